// The standard error of a tool server in the log: readable, bounded, and without its secrets.
import { expect, test } from 'vitest'
import { logErrorOutput } from './log-error-output.ts'

async function* send(...chunks: readonly (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk as string)
}

async function logLines(chunks: readonly (string | Buffer)[], secrets: readonly string[] = [], monotonic = () => 0) {
  const fields: Record<string, unknown>[] = []
  const log = { debug: (_: string, logged = {}) => void fields.push(logged) }
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  await logErrorOutput(send(...chunks), { service: 'maps', secrets, log, monotonic, pause })
  return Object.assign(fields, { pauses })
}

test('lines are logged whole, however they arrive, and show each character', async () => {
  const lines = await logLines(['sta', 'rted\nred \u001b[31m\n\n', 'the last'])
  expect(lines.map(({ line }) => line)).toEqual(['started', 'red \\u001b[31m', 'the last'])
  expect(lines[0]).toEqual({ service: 'maps', line: 'started' })
})

test('secrets are masked, also where the line is cut', async () => {
  const [line] = await logLines([`${'x'.repeat(495)}s3cret-value and s3cret-value\n`], ['', 's3cret-value'])
  expect(line?.line).toBe(`${'x'.repeat(495)}*** a`)
})

test('a line without an end, bytes that are not text and a flood are bounded', async () => {
  const [long, ...others] = await logLines([Buffer.alloc(1_000_000, 'y'), Buffer.from([0xff, 0xfe])])
  expect([String(long?.line).length, others]).toEqual([500, []])
  const flood = await logLines(Array.from({ length: 1_000 }, (_, at) => `line ${at}\n`))
  expect(flood).toHaveLength(60)
})

test('a flood is read slowly, so that it costs its server the time', async () => {
  const { pauses } = await logLines(Array.from({ length: 16 }, () => Buffer.alloc(65_536, 'e\n')))
  expect(pauses).toEqual([1_000, 1_000, 1_000, 1_000])
})

test('the next minute says how much was left out', async () => {
  let now = 0
  const clock = () => {
    now += 200
    return now
  }
  const lines = await logLines(
    Array.from({ length: 400 }, () => 'line\n'),
    [],
    clock,
  )
  expect(lines.length).toBeLessThan(400)
  expect(lines.some(({ dropped_bytes }) => Number(dropped_bytes) > 0)).toBe(true)
})
