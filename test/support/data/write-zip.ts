// Writes ZIP archives in memory, sound ones and others.
import { crc32, deflateRawSync } from 'node:zlib'

export type ZipPart = { readonly name: string; readonly content: string | Uint8Array; readonly isStored?: boolean }

export function writeZip(parts: readonly ZipPart[]): Uint8Array {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, isStored = false } of parts) {
    const bytes = Buffer.from(content)
    const data = isStored ? bytes : deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(isStored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    const made = Buffer.from([20, 0])
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, common, tail, Buffer.from(name)]))
    pieces.push(local)
    offset += local.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...pieces, list, end])
}
