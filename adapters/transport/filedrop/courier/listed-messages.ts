// Reads the messages that a manifest lists: both files of each, of exactly the listed length and digest.
import { join } from 'node:path'
import { readDroppedFile } from '../files/dropped-file.ts'
import { type MessagePart, messageParts, parseMessageName } from '../files/message-name.ts'
import type { FiledropSettings } from '../settings.ts'
import { type CourierManifest, type ManifestFile, sha384Hex } from './manifest.ts'

export type ListedMessage = {
  /** Empty where there is a fault: half a message would end in quarantine. The body first. */
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[]
  readonly faults: readonly { readonly file: string; readonly why: string }[]
}

type FileLimits = Pick<FiledropSettings, 'max_envelope_bytes' | 'max_body_bytes'>

/** The files of each message together, in the order of their numbers. */
export function groupMessages({ files }: CourierManifest): ManifestFile[][] {
  const found = new Map<string, ManifestFile[]>()
  for (const file of [...files].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const stem = parseMessageName(file.name)?.stem ?? ''
    found.set(stem, [...(found.get(stem) ?? []), file])
  }
  return [...found.values()]
}

/** `at`: the folder of the manifest; `listed`: the files of one message. */
export function readListedMessage(at: string, listed: readonly ManifestFile[], limits: FileLimits): ListedMessage {
  if (listed.length !== messageParts.length) {
    const why = 'the manifest names only this half of its message'
    return { files: [], faults: listed.map(({ name }) => ({ file: name, why })) }
  }
  const read = listed.map((file) => ({ name: file.name, bytes: readListedFile(at, file, limits) }))
  const faults = read.flatMap(({ name, bytes }) => (typeof bytes === 'string' ? [{ file: name, why: bytes }] : []))
  const files = read.flatMap(({ name, bytes }) => (typeof bytes === 'string' ? [] : [{ name, bytes }]))
  return { files: faults.length > 0 ? [] : files, faults }
}

/** The fault as text. */
function readListedFile(at: string, { name, bytes, sha384 }: ManifestFile, limits: FileLimits): Buffer | string {
  const caps: Readonly<Record<MessagePart, number>> = { env: limits.max_envelope_bytes, body: limits.max_body_bytes }
  const part = parseMessageName(name)?.part ?? 'env'
  if (bytes > caps[part]) return `it has more than ${caps[part]} bytes`
  const file = readDroppedFile(join(at, name), bytes)
  if ('gone' in file) return 'it is missing'
  if ('fault' in file) return `${file.fault.reason}: ${file.fault.detail}`
  return file.bytes.length === bytes && sha384Hex(file.bytes) === sha384
    ? file.bytes
    : 'its length or digest differs from the manifest'
}
