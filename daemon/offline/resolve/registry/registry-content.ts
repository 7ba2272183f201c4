// Content of a registry file for matching new records: the values of its records, and the weights of the run.
import * as z from 'zod'
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { LookupWeights } from '../../../roles/resolution/engine/lookup/weights.ts'
import { storedRun } from '../../../roles/resolution/fusion-run/model.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import type { PairDecision } from '../../../roles/resolution/registry/cluster-with-decisions.ts'

/** Source and id. */
const registryMember = z.tuple([z.string(), z.string()])

const learntModel = z.strictObject({
  /** Digest of the lens without its columns and that of the ids, whose names may differ between files. */
  lens: z.string(),
  route: z.enum(['clusters', 'links']),
  isOneSource: z.boolean(),
  /** Normal form of the texts of all records; absent for form 1, before scripts had rules. */
  text_form: z.int().min(1).optional(),
  weights: storedRun.shape.weights.unwrap(),
})

const contentLine = z.union([
  z.strictObject({
    record: registryMember,
    values: z.record(z.string(), z.string()),
    /** Entity by the run; absent for a record that was matched after the run. */
    found: z.string().optional(),
  }),
  z.strictObject({ left: registryMember, right: registryMember, is: z.enum(['same', 'different']) }),
  z.strictObject({ learnt: learntModel }),
])

export type RegistryRecord = { readonly values: Readonly<Record<string, string>>; readonly found?: string | undefined }

export type RegistryContent = {
  readonly learnt: Omit<z.infer<typeof learntModel>, 'weights'> & { readonly weights: LookupWeights }
  /** By key, in the order of the keys. */
  readonly records: ReadonlyMap<string, RegistryRecord>
  /** By the keys of their records. */
  readonly decisions: readonly PairDecision[]
}

export class RegistryContentReader {
  #learnt: RegistryContent['learnt'] | undefined
  readonly #records = new Map<string, RegistryRecord>()
  readonly #decisions: PairDecision[] = []

  /** Adds a line; false for an unknown kind of line. */
  addLine(value: unknown): boolean {
    const parsed = contentLine.safeParse(value).data
    if (!parsed) return false
    if ('learnt' in parsed) this.#learnt = parsed.learnt
    else if ('record' in parsed)
      this.#records.set(buildMemberKey(parsed.record), { values: parsed.values, found: parsed.found })
    else this.#decisions.push({ left: buildMemberKey(parsed.left), right: buildMemberKey(parsed.right), is: parsed.is })
    return true
  }

  /** The content; undefined unless its records are exactly these. */
  finish(keys: readonly string[]): RegistryContent | undefined {
    const isWhole = keys.length === this.#records.size && keys.every((key) => this.#records.has(key))
    if (!this.#learnt || !isWhole) return undefined
    return { learnt: this.#learnt, records: this.#records, decisions: this.#decisions }
  }
}

export function* listContentLines({
  learnt: learntModelData,
  records,
  decisions,
}: RegistryContent): Generator<z.infer<typeof contentLine>> {
  yield {
    learnt: {
      ...learntModelData,
      weights: { ...learntModelData.weights, fields: [...learntModelData.weights.fields] },
    },
  }
  for (const { left, right, is } of decisions) yield { left: parseMemberKey(left), right: parseMemberKey(right), is }
  for (const key of [...records.keys()].sort()) {
    const { values, found } = records.get(key) ?? { values: {} }
    yield { record: parseMemberKey(key), values: { ...values }, ...(found === undefined ? {} : { found }) }
  }
}

/**
 * Digest of the parts of a lens that determine how records are compared. The column with the ids is none of them: it counts as the
 * default, by which registries were digested that were made with that.
 */
export function digestLens(lens: Lens): string {
  return digestComparison({ ...lens, id_field: 'id' })
}

/** Whether records were compared as this lens does. Earlier digests had the column with the ids. */
export function isComparedBy(lens: Lens, { lens: digest }: Pick<RegistryContent['learnt'], 'lens'>): boolean {
  return digest === digestLens(lens) || digest === digestComparison(lens)
}

function digestComparison({ fields, source_order: _order, ...otherProperties }: Lens): string {
  const compared = fields.map(({ columns: _columns, survivorship: _survivorship, ...field }) => field)
  return sha256(canonicalJson({ ...otherProperties, fields: compared }))
}

export function buildMemberKey([source, id]: readonly [string, string]): string {
  return `${source}\u0000${id}`
}

export function parseMemberKey(key: string): [string, string] {
  const separator = key.indexOf('\u0000')
  return [key.slice(0, separator), key.slice(separator + 1)]
}
