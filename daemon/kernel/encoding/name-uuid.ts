// Name-based UUIDs: equal names in one namespace have equal UUIDs.
import { createHash } from 'node:crypto'

/** UUID version 5 of RFC 9562 (SHA-1). `space`: the UUID of the namespace, as text. The name is encoded in UTF-8. */
export function nameUuid(space: string, name: string): string {
  const digest = createHash('sha1')
    .update(Buffer.from(space.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
    .subarray(0, 16)
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
