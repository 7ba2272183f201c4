// Writes TIFF files in memory, sound ones and others: directories of tags, and bytes behind them.

/** `at`: the place of the values where they do not fit into the tag. */
export type TiffTagSample = readonly [tag: number, type: number, count: number, valueOrPlace: number]

const tag_bytes = 12

/** `next`: the place of the directory behind each; default the one that is written there. */
export function encodeTiff(
  directories: readonly (readonly TiffTagSample[])[],
  content: Uint8Array = new Uint8Array(0),
  next: readonly number[] = [],
): Buffer {
  const parts: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0])]
  let at = 8
  for (const [index, tags] of directories.entries()) {
    const directory = Buffer.alloc(2 + tags.length * tag_bytes + 4)
    directory.writeUInt16LE(tags.length, 0)
    for (const [row, [tag, type, count, value]] of tags.entries()) {
      const start = 2 + row * tag_bytes
      directory.writeUInt16LE(tag, start)
      directory.writeUInt16LE(type, start + 2)
      directory.writeUInt32LE(count, start + 4)
      directory.writeUInt32LE(value, start + 8)
    }
    at += directory.length
    directory.writeUInt32LE(next[index] ?? (index + 1 < directories.length ? at : 0), directory.length - 4)
    parts.push(directory)
  }
  return Buffer.concat([...parts, content])
}

/** The tags of an image of one strip, whose place is given. */
export function imageTags(width: number, height: number, strip: number, bytes: number): TiffTagSample[] {
  return [
    ...([
      [256, 4, 1, width],
      [257, 4, 1, height],
      [258, 3, 1, 8],
      [259, 3, 1, 1],
      [262, 3, 1, 1],
      [273, 4, 1, strip],
      [277, 3, 1, 1],
      [278, 4, 1, height],
      [279, 4, 1, bytes],
    ] as const),
  ]
}
