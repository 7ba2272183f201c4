// Standing agreements of the profile: proposals that this site accepts without a person. Without one it accepts none.
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
    description: 'With psi and clk exactly these: values of fewer fields are easier to guess. With none these or fewer',
  }),
  max_set_size: z.int().min(1).max(1_000_000),
  they_learn: z.boolean().default(false).meta({ description: 'The peer may be among those that learn' }),
  lens_version: shortText.optional().meta({ description: 'The only version; absent: any that this site has' }),
  max_set_bytes: z
    .int()
    .min(1)
    .max(max_agreed_set_bytes)
    .default(67_108_864)
    .meta({ description: 'With none: maximum bytes of the records of either party' }),
  clk: clkParameters.optional().meta({ description: 'With clk: these parameters and no others' }),
  accept_dictionary_risk: z.boolean().default(false),
  file: dataFile.optional().meta({ description: 'Data file of the site’s tenant with its records; none for a linker' }),
  linker: siteName.optional().meta({ description: 'With clk: the only site that may compare the records of this one' }),
  links: z.boolean().default(false).meta({ description: 'This site compares for others' }),
})
export type StandingAgreement = z.infer<typeof standingAgreement>

/** The first standing agreement that covers every term of the proposal. */
export function findStandingAgreement(
  all: readonly StandingAgreement[],
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
  return all.find(
    (each) =>
      each.peer === parties[0] &&
      each.lens === lens &&
      each.privacy.includes(mode) &&
      fields.every((field) => each.fields.includes(field)) &&
      (mode === 'none' || each.fields.every((field) => fields.includes(field))) &&
      max_set_size <= each.max_set_size &&
      (each.lens_version ?? lens_version) === lens_version &&
      (mode !== 'none' || agreement.max_set_bytes <= each.max_set_bytes) &&
      (mode !== 'clk' || hasSameParameters(each.clk, agreement.clk)) &&
      (part === 'linker' ? each.links : mayBringRecords(each, learns.includes(parties[0]), linker)) &&
      (each.accept_dictionary_risk || !accept_dictionary_risk),
  )
}

/** Longer vectors, more bits for a gram or no folding reveal more of the records, and a lower threshold finds more of them. */
function hasSameParameters(ours: ClkParameters | undefined, theirs: ClkParameters | undefined): boolean {
  return canonicalJson(ours ?? clkParameters.parse({})) === canonicalJson(theirs ?? clkParameters.parse({}))
}

/** Whether the agreement allows records to go to these sites. */
function mayBringRecords(
  { file, they_learn, linker }: StandingAgreement,
  theyLearn: boolean,
  by: string | undefined,
): boolean {
  return file !== undefined && (they_learn || !theyLearn) && (by === undefined || by === linker)
}
