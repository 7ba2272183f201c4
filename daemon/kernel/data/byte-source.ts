// The bytes of a data file: in order, or by ranges. Readers of data files know no file system.

/** Bytes in order. */
export type ByteSource = {
  /** Writes the next bytes at the beginning of `into`, which is not empty; returns how many, and 0 at the end alone. */
  read(into: Uint8Array): number | Promise<number>
}

/** Bytes by ranges. */
export type RangeSource = {
  readonly size: number
  /** Returns all bytes of the range, or throws. */
  read(start: number, end: number): ArrayBuffer
}

/** Fills the buffer from `start`; returns the end of the bytes, which lies before the end of the buffer at the end of the source alone. */
export async function fillBuffer(source: ByteSource, buffer: Uint8Array, start: number): Promise<number> {
  let end = start
  while (end < buffer.length) {
    const read_count = await source.read(buffer.subarray(end))
    if (read_count === 0) break
    end += read_count
  }
  return end
}
