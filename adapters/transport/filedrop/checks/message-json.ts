// Reads the JSON of messages, notes and manifests as strictly as the file-drop format demands.
import { parseStrictJson, readStrictJson, type StrictJson } from '../../../../daemon/kernel/encoding/strict-json.ts'
import { messageJsonLimits } from '../../../../daemon/kernel/messaging/body-limits.ts'

export function readMessageJson(bytes: Buffer): StrictJson {
  return readStrictJson(bytes, messageJsonLimits)
}

/** The value, or undefined for bytes that the format refuses. */
export function parseMessageJson(bytes: Buffer): unknown {
  return parseStrictJson(bytes, messageJsonLimits)
}
