// Checks the log lines; above all, that a secret passed to a log call is never written.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { isSecretName } from '../../../daemon/kernel/secret/redact-text.ts'
import { type LogLevel, pinoLog } from './pino-log.ts'

const jwt = ['eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIn0', 'eyJzdWIiOiJhbGljZSJ9', 'c2lnbmF0dXJl-_x'].join('.')

function captureLog(level: LogLevel = 'debug') {
  const written: string[] = []
  const log = pinoLog({ level, to: { write: (line) => void written.push(line) }, base: { site: 'alpha', role: 'hub' } })
  return { log, text: () => written.join(''), lines: () => written.map((line) => JSON.parse(line)) }
}

describe('a line', () => {
  test('is one JSON document with time, level, site, role, event and fields', () => {
    const { log, lines, text } = captureLog()
    log.info('hub.node.joined', { node: 'n1', count: 2, when: new Date(0) })
    expect(text()).toMatch(/^\{[^\n]+\}\n$/)
    const [line] = lines()
    expect(line).toMatchObject({
      level: 'info',
      site: 'alpha',
      role: 'hub',
      event: 'hub.node.joined',
      node: 'n1',
      count: 2,
      when: '1970-01-01T00:00:00.000Z',
    })
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('below the level is not written', () => {
    const { log, lines } = captureLog('warn')
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines().map((line) => line.event)).toEqual(['c', 'd'])
  })

  test('has each name once, for any names of fields', () => {
    const { log, text, lines } = captureLog()
    log.info('real', { event: 'forged', time: 'never', level: 'fatal', role: 'root' })
    expect(text().match(/"event":/g)).toHaveLength(1)
    expect(lines()[0]).toMatchObject({ event: 'real', role: 'hub', field_event: 'forged', field_role: 'root' })
  })

  test('stays one line when fields contain line breaks', () => {
    const { log, text } = captureLog()
    log.info('x', { text: 'one\n{"event":"forged"}\r\n' })
    expect(text().trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('secrets', () => {
  test.each([
    'authorization',
    'Authorization',
    'token',
    'secret',
    'password',
    'private',
    'd',
    'k',
    'client_secret',
    'clientSecret',
    'subject_token',
    'access_token',
    'refreshToken',
    'cookie',
    'set-cookie',
    'x-api-key',
    'db_password',
    'pwd',
    'sasl.password',
    'aws_secret_access_key',
    'account_key',
    'connection_string',
  ])('the field %s is never written, at any depth', (name) => {
    const { log, text } = captureLog()
    log.info('x', { [name]: 'hunter2-top', inside: [{ deep: { [name]: { a: 'hunter2-deep' } } }] })
    expect(text()).not.toContain('hunter2')
    expect(text()).toContain('[redacted]')
  })

  test.each(['tokens_issued', 'id', 'kid', 'key_id', 'secretary', 'detail', 'token_count', 'trace_id'])(
    'the field %s is written',
    (name) => expect(isSecretName(name)).toBe(false),
  )

  test.each([
    ['a token in an error', { error: new Error(`bad signature on ${jwt}`) }],
    ['a token in the cause of an error', { error: new Error('failed', { cause: new Error(jwt) }) }],
    ['a token in a stack', { error: new Error(jwt).stack }],
    ['a token in a list', { seen: ['x', [`got ${jwt}, refused`]] }],
    ['a token in a map', { seen: new Map([['a', jwt]]) }],
    ['a bearer header', { header: `Bearer ${jwt}` }],
  ])('%s is never written', (_where, fields) => {
    const { log, text } = captureLog()
    log.error('x', fields)
    for (const part of jwt.split('.')) expect(text()).not.toContain(part)
  })

  test.each([
    ['bearer', 'sent Authorization: Bearer s3cr3t-opaque.value='],
    ['basic', 'proxy said basic czNjcjN0LW9wYXF1ZQ== no: s3cr3t-opaque is url=https://u:s3cr3t-opaque@host/'],
    ['url', 'amqps://user:s3cr3t-opaque@broker/vhost'],
    ['form', 'grant_type=x&client_secret=s3cr3t-opaque&scope=y'],
    ['json', '{"client_secret": "s3cr3t-opaque", "a": 1}'],
    ['pem', '-----BEGIN PRIVATE KEY-----\ns3cr3t-opaque\n-----END PRIVATE KEY-----'],
    ['json with an escaped quote', '{"password":"x\\"s3cr3t-opaque", "a": 1}'],
    ['connection string', 'Driver=ODBC;Server=h;UID=sa;PWD=s3cr3t-opaque;'],
    ['account key', 'AccountName=a;AccountKey=s3cr3t-opaque==;EndpointSuffix=x'],
    ['passwd', 'mount failed: passwd=s3cr3t-opaque'],
    ['signed url', 'GET https://store/x?sv=1&sig=s3cr3t-opaque&se=2'],
    ['pre-signed url', 'GET https://store/x?X-Amz-Credential=s3cr3t-1&X-Amz-Signature=s3cr3t-opaque'],
    ['cut pem', '-----BEGIN EC PRIVATE KEY-----\ns3cr3t-opaque'],
  ])('in running text: %s', (name, example) => {
    const { log, text } = captureLog()
    const sent = name === 'basic' ? example.replace('no: s3cr3t-opaque is ', '') : example
    log.warn('x', { message: sent })
    expect(text()).not.toContain('s3cr3t')
    expect(text()).not.toContain('czNjcjN0')
  })

  test.each(['a-', 'a.', 'a_', 'eyJ-', 'http://', 'a:', 'x-token ', 'password=', '?a-', '\\"', 'bearer '])(
    'a long text of %j that a caller chose is written at once',
    (part) => {
      // Quadratic work on it would take minutes.
      const { log, lines } = captureLog()
      log.info('x', { message: `token bearer eyJ :// "password":"${part.repeat(400_000 / part.length)}` })
      expect(lines()).toHaveLength(1)
    },
  )

  test('the event itself is redacted too', () => {
    const { log, text } = captureLog()
    log.info(`x ${jwt}`)
    expect(text()).not.toContain(jwt)
  })
})

describe('unusual values', () => {
  test('cycles, depth, throwing getters, big integers and functions do not fail the caller', () => {
    const { log, lines } = captureLog()
    const cycle: Record<string, unknown> = { big: 1n, fn: () => 1, nothing: undefined, bytes: new Uint8Array(3) }
    cycle.self = cycle
    Object.defineProperty(cycle, 'bad', { enumerable: true, get: () => JSON.parse('no') })
    log.info('x', cycle)
    expect(lines()[0]).toMatchObject({ big: '1', self: '[cut]', bytes: '[3 bytes]', bad: '[unreadable]' })
  })

  test('a map key that cannot be converted to text is logged as unreadable, with its value', () => {
    const { log, lines } = captureLog()
    log.info('x', { odd: new Map([[{ toString: 0 }, 1]]) })
    expect(lines()[0]).toMatchObject({ odd: { '[unreadable]': 1 } })
  })

  test('any value gives one line of JSON', () => {
    const { log, lines } = captureLog()
    let count = 0
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withMap: true, withDate: true })),
        (any) => {
          log.info('x', any)
          count++
          return lines().length === count
        },
      ),
      { numRuns: 100 },
    )
  })
})

test('all lines are written before a crash ends the process', () => {
  const module = path.resolve(import.meta.dirname, 'pino-log.ts')
  const program = `
    import { pinoLog } from ${JSON.stringify(module)}
    const log = pinoLog({ level: 'info', to: 'stderr', base: { site: 's', role: 'r' } })
    for (let i = 0; i < 1000; i++) log.info('n', { i })
    process.kill(process.pid, 'SIGKILL')`
  const { stderr, signal } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', program], {
    encoding: 'utf8',
  })
  expect(signal).toBe('SIGKILL')
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'))
  expect(lines).toHaveLength(1000)
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'n', i: 999 })
})

describe('lines in blocks', () => {
  const runProgram = (program: string) => {
    const module = path.resolve(import.meta.dirname, 'pino-log.ts')
    const text = `
      import { pinoLog } from ${JSON.stringify(module)}
      const log = pinoLog({ level: 'info', to: 'stderr', base: { site: 's', role: 'r' }, inBlocks: true })
      ${program}`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', text], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let written = ''
    child.stderr.setEncoding('utf8').on('data', (more) => (written += more))
    const lines = () => written.split('\n').filter((line) => line.startsWith('{'))
    return { child, lines, closed: once(child, 'close') }
  }

  test.each([
    ['an end', ''],
    ['an exit', 'process.exit(3)'],
    ['an error that nobody handles', "throw new Error('x')"],
  ])('are all written at %s, in order', async (_, end) => {
    const { lines, closed } = runProgram(`for (let i = 0; i < 1_000; i++) log.info('n', { i })\n${end}`)
    await closed
    expect(lines().map((line) => JSON.parse(line).i)).toEqual(Array.from({ length: 1_000 }, (_each, i) => i))
  })

  test('are written in time while the process goes on', async () => {
    const { child, lines, closed } = runProgram("log.info('n', { i: 1 })\nsetInterval(() => undefined, 1_000)")
    await vi.waitFor(() => expect(lines()).toHaveLength(1), { timeout: 10_000, interval: 20 })
    child.kill('SIGKILL')
    await closed
  })

  test('are whole at a kill, and only the last block is missing', async () => {
    const { lines, closed } = runProgram(
      "for (let i = 0; i < 1_000; i++) log.info('n', { i })\nprocess.kill(process.pid, 'SIGKILL')",
    )
    await closed
    const found = lines().map((line) => JSON.parse(line).i)
    expect(found).toEqual(Array.from({ length: found.length }, (_each, i) => i))
    expect(found.length).toBeGreaterThan(500)
    expect(found.length).toBeLessThan(1_000)
  })
})
