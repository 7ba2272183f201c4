// Standing agreements of the profile: proposals that this site accepts without a person. All others wait.
import * as z from 'zod'
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import { siteName } from '../../../../kernel/messaging/statement.ts'
import { shortText } from '../../fields.ts'
import { privacy } from '../../fusion-run/model.ts'
import { dataFile } from '../../fusion-run/node-data.ts'
import { type ClkParameters, clkParameters } from '../../privacy/clk/parameters.ts'
import type { StoredExchange } from '../model.ts'
import { max_agreed_set_bytes } from './agreement.ts'

export const standingAgreement = z.strictObject({
  peer: siteName.meta({ description: 'The site that proposes' }),
  lens: shortText,
  privacy: z.array(privacy).min(1),
  fields: z.array(shortText).min(1).max(14).meta({
    description:
      'Allowed fields. With psi and clk the proposal must name all of them: values of fewer fields are easier to guess. With none it may name fewer',
  }),
  max_set_size: z.int().min(1).max(1_000_000),
  they_learn: z.boolean().default(false).meta({ description: 'Whether the peer may learn which records match' }),
  lens_version: shortText
    .optional()
    .meta({ description: 'The only allowed version; any version that this site has when absent' }),
  max_set_bytes: z
    .int()
    .min(1)
    .max(max_agreed_set_bytes)
    .default(67_108_864)
    .meta({ description: 'With none: maximum bytes of the records of either party' }),
  clk: clkParameters.optional().meta({ description: 'With clk: the only allowed parameters' }),
  accept_dictionary_risk: z.boolean().default(false),
  file: dataFile
    .optional()
    .meta({ description: 'Data file of the site’s tenant with its records; absent for a linker' }),
  linker: siteName
    .optional()
    .meta({ description: 'With clk: the only site that may compare the records of this site' }),
  links: z.boolean().default(false).meta({ description: 'Whether this site compares records as the linker of others' }),
})
export type StandingAgreement = z.infer<typeof standingAgreement>

/** Finds the first standing agreement that covers every term of the proposal. */
export function findStandingAgreement(
  standingAgreements: readonly StandingAgreement[],
  { agreement, part }: Pick<StoredExchange, 'agreement' | 'part'>,
): StandingAgreement | undefined {
  const {
    parties,
    lens,
    lens_version,
    privacy: mode,
    fields,
    max_set_size,
    learns,
    linker,
    accept_dictionary_risk,
  } = agreement
  return standingAgreements.find(
    (standing) =>
      standing.peer === parties[0] &&
      standing.lens === lens &&
      standing.privacy.includes(mode) &&
      fields.every((field) => standing.fields.includes(field)) &&
      (mode === 'none' || standing.fields.every((field) => fields.includes(field))) &&
      max_set_size <= standing.max_set_size &&
      (standing.lens_version ?? lens_version) === lens_version &&
      (mode !== 'none' || agreement.max_set_bytes <= standing.max_set_bytes) &&
      (mode !== 'clk' || hasSameParameters(standing.clk, agreement.clk)) &&
      (part === 'linker' ? standing.links : maySendRecords(standing, learns.includes(parties[0]), linker)) &&
      (standing.accept_dictionary_risk || !accept_dictionary_risk),
  )
}

/**
 * Longer vectors, more bits for a gram or no folding reveal more of the records; a lower threshold matches more of
 * them.
 */
function hasSameParameters(standing: ClkParameters | undefined, proposed: ClkParameters | undefined): boolean {
  return canonicalJson(standing ?? clkParameters.parse({})) === canonicalJson(proposed ?? clkParameters.parse({}))
}

/** Whether the standing agreement allows records of this site to go to the peer and the proposed linker. */
function maySendRecords(
  { file, they_learn, linker }: StandingAgreement,
  peerLearns: boolean,
  proposedLinker: string | undefined,
): boolean {
  return (
    file !== undefined && (they_learn || !peerLearns) && (proposedLinker === undefined || proposedLinker === linker)
  )
}
