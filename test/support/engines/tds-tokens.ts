// Tokens of TDS 7.4, as a server of SQL Server sends them.

const uint16 = (value: number) => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}
const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}
const wide = (text: string) => Buffer.from(text, 'utf16le')
/** With its length in characters, of one byte or two. */
const shortText = (text: string) => Buffer.concat([Buffer.from([text.length]), wide(text)])
const longText = (text: string) => Buffer.concat([uint16(text.length), wide(text)])
const withLength = (token: number, body: Buffer) => Buffer.concat([Buffer.from([token]), uint16(body.length), body])

export function loginAckToken(): Buffer {
  const version = Buffer.from([0x74, 0, 0, 4])
  const body = [Buffer.from([1]), version, shortText('Microsoft SQL Server'), Buffer.from([16, 0, 0x10, 0x63])]
  return withLength(0xad, Buffer.concat(body))
}

/** `status`: 1 where another result follows. */
export function doneToken(status = 0): Buffer {
  return Buffer.concat([Buffer.from([0xfd]), uint16(status), uint16(0), int64(0n)])
}

export function errorToken(number: number, message = 'secret of shop'): Buffer {
  const place = [longText(message), shortText('db-host'), shortText(''), int32(1)]
  return withLength(0xaa, Buffer.concat([int32(number), Buffer.from([1, 14]), ...place]))
}

export function routingToken(host: string, port: number): Buffer {
  const route = Buffer.concat([Buffer.from([0]), uint16(port), longText(host)])
  return withLength(0xe3, Buffer.concat([Buffer.from([20]), uint16(route.length), route, uint16(0)]))
}

export function beginTransactionToken(): Buffer {
  return withLength(0xe3, Buffer.concat([Buffer.from([8, 8]), int64(7n), Buffer.from([0])]))
}

/** A challenge of NTLM. */
export function challengeToken(): Buffer {
  const target = wide('SITE')
  const fields = Buffer.alloc(48)
  fields.write('NTLMSSP\0', 'latin1')
  fields.writeInt32LE(2, 8)
  fields.writeUInt16LE(target.length, 12)
  fields.writeUInt16LE(target.length, 14)
  fields.writeInt32LE(48, 16)
  fields.writeUInt32LE(0x628205, 20)
  fields.write('challeng', 24, 'latin1')
  const info = Buffer.concat([uint16(2), uint16(target.length), target, uint16(0), uint16(0)])
  fields.writeUInt16LE(info.length, 40)
  fields.writeUInt16LE(info.length, 42)
  fields.writeInt32LE(48 + target.length, 44)
  return withLength(0xed, Buffer.concat([fields, target, info]))
}

/** `max`: of any length, which comes in pieces. */
export type TdsType = 'int' | 'bigint' | 'bit' | 'float' | 'real' | 'text' | 'max' | 'bytes' | 'maxBytes' | 'wrong'
export type TdsColumn = readonly [name: string, type: TdsType]
export type TdsValue = string | number | bigint | boolean | Buffer | null

const collation = Buffer.from([9, 4, 0xd0, 0, 0x34])
const typeInfos: Readonly<Record<TdsType, Buffer>> = {
  ...{ int: Buffer.from([0x26, 4]), bigint: Buffer.from([0x26, 8]), bit: Buffer.from([0x68, 1]) },
  ...{ float: Buffer.from([0x6d, 8]), real: Buffer.from([0x6d, 4]) },
  text: Buffer.concat([Buffer.from([0xe7]), uint16(8_000), collation]),
  max: Buffer.concat([Buffer.from([0xe7]), uint16(0xffff), collation]),
  bytes: Buffer.concat([Buffer.from([0xa5]), uint16(8_000)]),
  maxBytes: Buffer.concat([Buffer.from([0xa5]), uint16(0xffff)]),
  wrong: Buffer.from([0x99]),
}

export function columnsToken(columns: readonly TdsColumn[]): Buffer {
  const each = columns.flatMap(([name, type]) => [int32(0), uint16(1), typeInfos[type], shortText(name)])
  return Buffer.concat([Buffer.from([0x81]), uint16(columns.length), ...each])
}

export function rowToken(columns: readonly TdsColumn[], row: readonly TdsValue[]): Buffer {
  return Buffer.concat([Buffer.from([0xd1]), ...columns.map(([, type], at) => encodeValue(type, row[at] ?? null))])
}

function encodeValue(type: TdsType, value: TdsValue): Buffer {
  const isMax = type === 'max' || type === 'maxBytes'
  if (value === null)
    return isMax ? int64(-1n) : type === 'text' || type === 'bytes' ? uint16(0xffff) : Buffer.from([0])
  const bytes = bytesOf(type, value)
  if (!isMax)
    return Buffer.concat([
      type === 'text' || type === 'bytes' ? uint16(bytes.length) : Buffer.from([bytes.length]),
      bytes,
    ])
  const piece = bytes.length === 0 ? [] : [int32(bytes.length), bytes]
  return Buffer.concat([int64(BigInt(bytes.length)), ...piece, int32(0)])
}

function bytesOf(type: TdsType, value: NonNullable<TdsValue>): Buffer {
  if (Buffer.isBuffer(value)) return value
  if (type === 'int') return int32(Number(value))
  if (type === 'bigint') return int64(BigInt(value))
  if (type === 'bit') return Buffer.from([value ? 1 : 0])
  if (type !== 'float' && type !== 'real') return wide(String(value))
  const bytes = Buffer.alloc(type === 'float' ? 8 : 4)
  if (type === 'float') bytes.writeDoubleLE(Number(value))
  else bytes.writeFloatLE(Number(value))
  return bytes
}

export function resultTokens(columns: readonly TdsColumn[], rows: readonly (readonly TdsValue[])[]): Buffer {
  return Buffer.concat([columnsToken(columns), ...rows.map((row) => rowToken(columns, row)), doneToken()])
}
