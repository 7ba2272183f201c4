// Reads the lines of a signed snapshot: each must be valid, and together they must match the manifest.

import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import type { Label } from '../../../kernel/label/label.ts'
import { recordUid } from '../../../roles/resolution/entity-record/model.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import {
  type LensLine,
  type RecordLine,
  type SnapshotManifest,
  snapshotLine,
} from '../../../roles/resolution/snapshot/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'

export class SignedSnapshotReader {
  readonly #manifest: SnapshotManifest
  readonly #admit: (label: Label) => Label
  readonly #labels: Label[] = []
  readonly #records = new Set<string>()
  readonly #entities = new Set<string>()
  #lens: Lens | undefined

  /** `admit`: the label in the terms of the reader; throws for one that may not enter. */
  constructor(manifest: SnapshotManifest, admit: (label: Label) => Label) {
    this.#manifest = manifest
    this.#admit = admit
  }

  /** The labels, as they were admitted. Throws `OfflineCommandError` (5) for an invalid line. */
  async read(lines: AsyncIterable<Uint8Array>): Promise<readonly Label[]> {
    let number = 0
    for await (const text of lines) {
      number++
      const fault = this.#fault(text)
      if (fault) throw new OfflineCommandError(5, `line ${number} ${fault}: nothing was imported`)
    }
    const { records, entities } = this.#manifest
    if (!this.#lens || this.#records.size !== records || this.#entities.size !== entities) {
      throw new OfflineCommandError(5, 'the number of records differs from the signed number: nothing was imported')
    }
    return this.#labels
  }

  /** The fault of a line; undefined if it is accepted. */
  #fault(text: Uint8Array): string | undefined {
    const parsed = parseJsonAs(snapshotLine, text)
    if (!parsed) return 'is not a line of a registry'
    if (parsed.kind === 'label') return this.#takeLabel(parsed.label)
    if (parsed.label >= this.#labels.length) return 'refers to a label that is not defined before it'
    return parsed.kind === 'lens' ? this.#takeLens(parsed) : this.#takeRecord(parsed)
  }

  #takeLabel(label: Label): undefined {
    this.#labels.push(this.#admit(label))
  }

  #takeLens({ body, weights }: LensLine): string | undefined {
    const { lens, lens_version, entity_type } = this.#manifest
    if (this.#lens) return 'is a second lens'
    const isSame = body.lens === lens && body.version === lens_version && body.entity_type === entity_type
    if (!isSame) return 'differs from the signed lens'
    const names = new Set(body.fields.map(({ name }) => name))
    if (!weights.fields.every(({ name }) => names.has(name))) return 'weighs fields that the lens does not have'
    this.#lens = body
    return undefined
  }

  #takeRecord({ ref, values, entity }: RecordLine): string | undefined {
    const { tenant_id, lens } = this.#manifest
    const names = this.#lens?.fields.map(({ name }) => name)
    if (!names) return 'is a record before its lens'
    if (!Object.keys(values).every((name) => names.includes(name))) return 'has fields that the lens does not have'
    const uid = recordUid(tenant_id, lens, ref)
    if (this.#records.has(uid)) return 'repeats a record'
    this.#records.add(uid)
    this.#entities.add(entity)
    return undefined
  }
}
