// The agreement that sites make before any data leaves them: lens, fields, sizes, and the parties that learn.
import * as z from 'zod'
import { canonicalDigest } from '../../../../kernel/encoding/canonical-json.ts'
import type { FieldError } from '../../../../kernel/error/errors.ts'
import { siteName } from '../../../../kernel/messaging/statement.ts'
import { seed, shortText } from '../../fields.ts'
import { lensOverrides, privacy } from '../../fusion-run/model.ts'
import { clkParameters } from '../../privacy/clk/parameters.ts'

export const exchangeId = z.string().regex(/^xchg_[0-9a-f]{32}$/)
export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/)

/** 4 GiB: above the limit that a site may configure. */
export const max_agreed_set_bytes = 4_294_967_296

/** The terms that the proposer chooses. */
export const exchangeTerms = {
  fields: z
    .array(shortText)
    .min(1)
    .max(14)
    .meta({ description: 'Fields of the lens that leave the sites, in any form; `psi` compares them as one key' }),
  privacy,
  learns: z.array(siteName).min(1).max(2).meta({ description: 'The parties that learn which records match' }),
  linker: siteName.optional().meta({
    description:
      'With `clk`: the site that compares. A third site, which does not have the key; with accept_dictionary_risk also a party',
  }),
  accept_dictionary_risk: z.boolean().default(false).meta({
    description: 'With `clk`, a party as the linker: it has the key, and can guess every value',
  }),
  max_set_size: z.int().min(1).max(1_000_000).meta({ description: 'Maximum number of records of either party' }),
  max_set_bytes: z.int().min(1).max(max_agreed_set_bytes).default(67_108_864).meta({
    description: 'With `none`: maximum bytes of the records of either party, as JSON',
  }),
  seed,
  threshold: lensOverrides.threshold.meta({ description: 'With `none`: bits, as for a run of one site' }),
  clk: clkParameters.optional().meta({ description: 'With `clk`: parameters; each has a default' }),
}

export const exchangeAgreement = z
  .strictObject({
    exchange_id: exchangeId,
    lens: shortText,
    lens_version: shortText,
    lens_digest: sha256Hex.meta({ description: 'Digest of the lens, which must be identical at all parties' }),
    parties: z.tuple([siteName, siteName]).meta({ description: 'The proposer, and the other party' }),
    ...exchangeTerms,
    text_form: z.int().min(1).max(1_000).optional().meta({
      description: 'Form in which the proposer normalises texts, which must be that of the other party; 1 when absent',
    }),
  })
  .meta({ id: 'ExchangeAgreement' })
export type ExchangeAgreement = z.infer<typeof exchangeAgreement>

export function computeAgreementDigest(agreement: ExchangeAgreement): string {
  return canonicalDigest(agreement)
}

/** Finds reasons why terms are not valid; empty for valid terms. */
export function findTermFaults(terms: Omit<ExchangeAgreement, 'exchange_id' | 'lens_digest'>): FieldError[] {
  const { parties, learns, fields, linker, privacy: mode, clk, threshold } = terms
  const faults: FieldError[] = []
  const fault = (path: string, message: string) => faults.push({ path, message })
  if (parties[0] === parties[1]) fault('peer', 'must be another site')
  if (!learns.every((site) => parties.includes(site))) fault('learns', `may name ${parties.join(' and ')} only`)
  if (new Set(learns).size < learns.length) fault('learns', 'names a site twice')
  if (new Set(fields).size < fields.length) fault('fields', 'names a field twice')
  if (mode !== 'clk' && linker !== undefined) fault('linker', 'is allowed with clk only')
  if (mode !== 'clk' && clk !== undefined) fault('clk', 'is allowed with clk only')
  const hasUnknownField = Object.keys(clk?.weights ?? {}).some((name) => !fields.includes(name))
  if (hasUnknownField) fault('clk.weights', 'names a field that is not in the agreement')
  if (mode !== 'none' && threshold !== undefined)
    fault('threshold', 'is allowed with none only; the threshold of clk is clk.threshold')
  if (mode === 'clk') faults.push(...findLinkerFaults(terms))
  return faults
}

function findLinkerFaults({
  parties,
  linker,
  accept_dictionary_risk,
}: Pick<ExchangeAgreement, 'parties' | 'linker' | 'accept_dictionary_risk'>) {
  if (linker === undefined)
    return [{ path: 'linker', message: 'is required with clk: name a third site, which does not have the key' }]
  if (!parties.includes(linker) || accept_dictionary_risk) return []
  return [
    {
      path: 'accept_dictionary_risk',
      message: 'must be true where a party compares: it has the key, and can guess every value',
    },
  ]
}

/** Lists all sites of the agreement, the parties first. */
export function listSites({ parties, linker }: Pick<ExchangeAgreement, 'parties' | 'linker'>): string[] {
  return [...new Set([...parties, ...(linker === undefined ? [] : [linker])])]
}

export function findOtherParty({ parties }: Pick<ExchangeAgreement, 'parties'>, self: string): string {
  return parties[0] === self ? parties[1] : parties[0]
}

/** Lists the disclosures of the terms, for the person who decides whether to agree. See docs/privacy.md. */
export function listWarnings({
  privacy: mode,
  fields,
  linker,
  parties,
}: Pick<ExchangeAgreement, 'privacy' | 'fields' | 'linker' | 'parties'>): string[] {
  const fieldList = fields.join(', ')
  if (mode === 'none')
    return [`a party that learns receives ${fieldList} of every record of the other party, unencoded`]
  const commonWarning =
    'every site is assumed to keep to the protocol (semi-honest); all sites see the sizes of the sets'
  if (mode === 'psi') {
    return [
      commonWarning,
      `a party that learns can guess: it can put few or known values of ${fieldList} into its set and so try as many as the agreed size`,
    ]
  }
  const similarityWarning = `the linker sees how similar records are in ${fieldList}, and how often vectors recur, which can reveal frequent values`
  if (linker === undefined || !parties.includes(linker))
    return [
      commonWarning,
      similarityWarning,
      'the linker must not collude with a party: with the key of a party it can guess all values',
    ]
  return [
    commonWarning,
    similarityWarning,
    `${linker} compares and has the key: it can guess every value of the other party`,
  ]
}
