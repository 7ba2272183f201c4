// Names that are UUIDs: the same name in the same space has the same one everywhere.
import { createHash } from 'node:crypto'

/** Version 5 of RFC 9562 (SHA-1). `space`: the UUID of the space of names, as text; the name in UTF-8. */
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
