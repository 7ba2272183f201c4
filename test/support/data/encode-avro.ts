// Writes the container of an Avro file around encoded records.
const sync = Buffer.from('0123456789abcdef')

export type AvroOptions = {
  readonly codec?: string
  /** Whether the schema is the text of the header. */
  readonly isRaw?: boolean
  /** Bytes of a further block, before its end. */
  readonly more?: readonly number[]
}

/** A whole number as Avro has it. */
export function encodeLong(value: number): number[] {
  const bytes: number[] = []
  let rest = value < 0 ? -2n * BigInt(value) - 1n : 2n * BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

/** `blocks`: the records of each, encoded. */
export function encodeAvro(
  schema: unknown,
  blocks: readonly (readonly (readonly number[])[])[],
  { codec = 'null', isRaw = false, more = [] }: AvroOptions = {},
): Uint8Array {
  const text = (value: string) => Buffer.from([...encodeLong(Buffer.byteLength(value)), ...Buffer.from(value)])
  const header = [
    text('avro.codec'),
    text(codec),
    text('avro.schema'),
    text(isRaw ? String(schema) : JSON.stringify(schema)),
  ]
  const parts = [Buffer.from('Obj\x01', 'latin1'), Buffer.from(encodeLong(2)), ...header, Buffer.of(0), sync]
  for (const records of blocks) {
    const bytes = Buffer.concat(records.map((record) => Buffer.from(record)))
    parts.push(Buffer.from([...encodeLong(records.length), ...encodeLong(bytes.length)]), bytes, sync)
  }
  if (more.length > 0) parts.push(Buffer.from(more), sync)
  return Uint8Array.from(Buffer.concat(parts))
}
