// Reads the JSON of messages, notes and manifests as strictly as the file-drop format demands.
import { parseStrictJson, readStrictJson, type StrictJson } from '../../../../daemon/kernel/encoding/strict-json.ts'

const max_depth = 16

export function readMessageJson(bytes: Buffer): StrictJson {
  return readStrictJson(bytes, max_depth)
}

/** The value, or undefined for bytes that the format refuses. */
export function parseMessageJson(bytes: Buffer): unknown {
  return parseStrictJson(bytes, max_depth)
}
