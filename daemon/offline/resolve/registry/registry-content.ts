// What a registry of files keeps of its records, so that new ones can be matched with them: what they say, and what the run learnt.
import * as z from 'zod'
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { LookupWeights } from '../../../roles/resolution/engine/lookup/weights.ts'
import { storedRun } from '../../../roles/resolution/fusion-run/model.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import type { PairDecision } from '../../../roles/resolution/registry/cluster-with-decisions.ts'

/** Source and id. */
const registryMember = z.tuple([z.string(), z.string()])

const learntModel = z.strictObject({
  /** Of the lens, but for the columns, which another file may call otherwise. */
  lens: z.string(),
  route: z.enum(['clusters', 'links']),
  isOneSource: z.boolean(),
  weights: storedRun.shape.weights.unwrap(),
})

const contentLine = z.union([
  z.strictObject({
    record: registryMember,
    values: z.record(z.string(), z.string()),
    /** The entity that the run found for it; absent where it came since. */
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

  /** False for a line that is none of these. */
  addLine(said: unknown): boolean {
    const read = contentLine.safeParse(said).data
    if (!read) return false
    if ('learnt' in read) this.#learnt = read.learnt
    else if ('record' in read)
      this.#records.set(buildMemberKey(read.record), { values: read.values, found: read.found })
    else this.#decisions.push({ left: buildMemberKey(read.left), right: buildMemberKey(read.right), is: read.is })
    return true
  }

  /** Undefined where it does not keep just these records. */
  finish(keys: readonly string[]): RegistryContent | undefined {
    const isWhole = keys.length === this.#records.size && keys.every((key) => this.#records.has(key))
    if (!this.#learnt || !isWhole) return undefined
    return { learnt: this.#learnt, records: this.#records, decisions: this.#decisions }
  }
}

export function* listContentLines({
  learnt: told,
  records,
  decisions,
}: RegistryContent): Generator<z.infer<typeof contentLine>> {
  yield { learnt: { ...told, weights: { ...told.weights, fields: [...told.weights.fields] } } }
  for (const { left, right, is } of decisions) yield { left: parseMemberKey(left), right: parseMemberKey(right), is }
  for (const key of [...records.keys()].sort()) {
    const { values, found } = records.get(key) ?? { values: {} }
    yield { record: parseMemberKey(key), values: { ...values }, ...(found === undefined ? {} : { found }) }
  }
}

/** What of a lens must be the same for records to be seen as they were. */
export function digestLens({ fields, ...rest }: Lens): string {
  return sha256(canonicalJson({ ...rest, fields: fields.map(({ columns: _columns, ...field }) => field) }))
}

export function buildMemberKey([source, id]: readonly [string, string]): string {
  return `${source}\u0000${id}`
}

export function parseMemberKey(key: string): [string, string] {
  const at = key.indexOf('\u0000')
  return [key.slice(0, at), key.slice(at + 1)]
}
