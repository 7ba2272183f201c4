// Reads the lines of a signed snapshot: each must be valid, and together they must match the manifest.

import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { admitIncomingLabel } from '../../../kernel/label/crossing.ts'
import { joinLabels, type Label, type LabelPolicy } from '../../../kernel/label/label.ts'
import { recordUid } from '../../../roles/resolution/entity-record/model.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { type LensLine, type RecordLine, snapshotLine } from '../../../roles/resolution/snapshot/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { VerifiedSnapshot } from './snapshot-signature.ts'

export class SignedSnapshotReader {
  readonly #signed: VerifiedSnapshot
  readonly #policy: LabelPolicy
  readonly #labels: Label[] = []
  readonly #records = new Set<string>()
  readonly #entities = new Set<string>()
  #lens: Lens | undefined

  constructor(signed: VerifiedSnapshot, policy: LabelPolicy) {
    this.#signed = signed
    this.#policy = policy
  }

  /** The labels in the site's own policy, and their join. Throws `OfflineCommandError`: 5 for an invalid line, 3 for a label that the site does not admit. */
  async read(lines: AsyncIterable<Uint8Array>): Promise<{ label: Label; labels: Label[] }> {
    let number = 0
    for await (const text of lines) {
      number++
      const fault = this.#fault(text)
      if (fault) throw new OfflineCommandError(5, `line ${number} ${fault}: nothing was imported`)
    }
    const { records, entities } = this.#signed.manifest
    if (!this.#lens || this.#records.size !== records || this.#entities.size !== entities) {
      throw new OfflineCommandError(5, 'the number of records differs from the signed number: nothing was imported')
    }
    const [first, ...otherLabels] = this.#labels
    const label = otherLabels.reduce(
      (joined: Label | undefined, next) => joined && joinLabels(joined, next, this.#policy),
      first,
    )
    if (!label) throw new OfflineCommandError(5, 'the labels of the snapshot cannot be joined: nothing was imported')
    return { label, labels: this.#labels }
  }

  /** The fault of a line; undefined if it is accepted. */
  #fault(text: Uint8Array): string | undefined {
    const parsed = parseJsonAs(snapshotLine, text)
    if (!parsed) return 'is not a line of a registry'
    if (parsed.kind === 'label') return this.#takeLabel(parsed.label)
    if (parsed.label >= this.#labels.length) return 'refers to a label that is not defined before it'
    return parsed.kind === 'lens' ? this.#takeLens(parsed) : this.#takeRecord(parsed)
  }

  #takeLabel(peerLabel: Label): undefined {
    const { peer, names } = this.#signed
    const label = admitIncomingLabel(peerLabel, peer, names, this.#policy)
    if (isRefusal(label)) throw new OfflineCommandError(3, `${label.message}: nothing was imported`)
    this.#labels.push(label)
  }

  #takeLens({ body, weights }: LensLine): string | undefined {
    const { lens, lens_version, entity_type } = this.#signed.manifest
    if (this.#lens) return 'is a second lens'
    const isSame = body.lens === lens && body.version === lens_version && body.entity_type === entity_type
    if (!isSame) return 'differs from the signed lens'
    const names = new Set(body.fields.map(({ name }) => name))
    if (!weights.fields.every(({ name }) => names.has(name))) return 'weighs fields that the lens does not have'
    this.#lens = body
    return undefined
  }

  #takeRecord({ ref, values, entity }: RecordLine): string | undefined {
    const { tenant_id, lens } = this.#signed.manifest
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
