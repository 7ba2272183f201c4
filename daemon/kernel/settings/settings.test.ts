// Holds settings to their order of precedence, to problems that mend themselves, and to secrets that stay secret.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { coerceText, metaOf, resolveSettings, type SettingSources, settingsBlock } from './settings.ts'

const proxy = settingsBlock('proxy', {
  rate_limit: z
    .int()
    .min(1)
    .default(60)
    .meta({ env: ['RATE_LIMIT', 'PROXY_RATE'], doc: 'Requests a minute.' }),
  is_open: z.boolean().default(false).meta({ env: 'PROXY_OPEN', doc: 'Whether it is open.' }),
  hosts: z.array(z.string()).default([]).meta({ env: 'PROXY_HOSTS', doc: 'Names.' }),
  key: z.string().min(8).optional().meta({ env: 'PROXY_KEY', doc: 'A secret.', secret: true }),
})
const site = settingsBlock('site', { name: z.string().meta({ env: 'SITE_NAME', doc: 'Its name.' }) })

const sources = (given: Partial<SettingSources> = {}): SettingSources => ({
  profile: {},
  env: {},
  flags: {},
  readSecret: () => {
    throw new Error('no file')
  },
  needsSecrets: () => true,
  ...given,
})
const explained = (given: Partial<SettingSources>, setting: string) =>
  resolveSettings([proxy], sources(given)).explained.find((one) => one.setting === setting)

describe('precedence', () => {
  const profile = { proxy: { rate_limit: 2 } }
  const env = { RATE_LIMIT: '3' }
  const flags = { 'proxy.rate_limit': 4 }
  test.each([
    ['default', {}, 60],
    ['profile', { profile }, 2],
    ['environment RATE_LIMIT', { profile, env }, 3],
    ['environment PROXY_RATE', { profile, env: { PROXY_RATE: '5' } }, 5],
    ['environment RATE_LIMIT', { env: { PROXY_RATE: '5', RATE_LIMIT: '3' } }, 3],
    ['flag', { profile, env, flags }, 4],
  ])('%s', (origin, given, value) => {
    expect(explained(given, 'proxy.rate_limit')).toMatchObject({ origin, value })
    expect(resolveSettings([proxy], sources(given)).values.get('proxy')).toMatchObject({ rate_limit: value })
  })

  test('an empty variable is none', () => {
    expect(explained({ env: { RATE_LIMIT: '' } }, 'proxy.rate_limit')).toMatchObject({ origin: 'default', value: 60 })
  })
})

describe('problems', () => {
  test('come all at once, each with its path', () => {
    const { problems, values } = resolveSettings(
      [proxy, site],
      sources({ profile: { proxy: { rate_limit: 0, is_open: 'x' } } }),
    )
    expect(problems.map(({ path }) => path)).toEqual(['proxy.rate_limit', 'proxy.is_open', 'site.name'])
    expect(values.size).toBe(0)
  })

  test('an unknown key or section names the nearest known one', () => {
    const { problems } = resolveSettings(
      [proxy, site],
      sources({ profile: { proxy: { rate_limits: 1 }, sitr: {}, site: { name: 'a' } } }),
    )
    expect(problems).toEqual([
      { path: 'sitr', message: 'unknown section; did you mean "site"?' },
      { path: 'proxy.rate_limits', message: 'unknown field; did you mean "rate_limit"?' },
    ])
  })

  test('a section that is no mapping is one problem, and an empty one is none', () => {
    expect(resolveSettings([proxy], sources({ profile: { proxy: 3 } })).problems).toEqual([
      { path: 'proxy', message: 'must be a mapping' },
    ])
    expect(resolveSettings([proxy], sources({ profile: { proxy: null } })).problems).toEqual([])
  })

  test('text that is not of the type is a problem, not a guess', () => {
    for (const text of ['3x', '1.5', '0x10', ' 3', 'Infinity', 'NaN']) {
      expect(resolveSettings([proxy], sources({ env: { RATE_LIMIT: text } })).problems).toHaveLength(1)
    }
    expect(resolveSettings([proxy], sources({ env: { PROXY_OPEN: 'yes' } })).problems).toHaveLength(1)
  })
})

describe('secrets', () => {
  const secret = 'hunter2-hunter2'

  test('come from a file that a variable names, without the line break at its end', () => {
    const given = sources({ env: { PROXY_KEY_FILE: '/run/key' }, readSecret: (path) => `${secret} of ${path}\n` })
    expect(resolveSettings([proxy], given).values.get('proxy')).toMatchObject({ key: `${secret} of /run/key` })
    expect(resolveSettings([proxy], given).explained.at(-1)).toMatchObject({ origin: 'environment PROXY_KEY_FILE' })
  })

  test('are never explained, wherever they come from', () => {
    const all: Partial<SettingSources>[] = [
      { profile: { proxy: { key: secret } } },
      { env: { PROXY_KEY: secret } },
      { flags: { 'proxy.key': secret } },
      { env: { PROXY_KEY_FILE: 'f' }, readSecret: () => secret },
    ]
    for (const given of all) {
      expect(explained(given, 'proxy.key')).toMatchObject({ value: '[redacted]', secret: true })
      expect(JSON.stringify(resolveSettings([proxy], sources(given)).explained)).not.toContain('hunter2')
    }
    expect(explained({}, 'proxy.key')).toMatchObject({ value: undefined })
  })

  test('that are wrong are not shown in the problem', () => {
    for (const wrong of ['hunter2', 12_345_678_901, { hunter2: 'hunter2' }]) {
      const { problems, explained: shown } = resolveSettings([proxy], sources({ profile: { proxy: { key: wrong } } }))
      expect(problems).toHaveLength(1)
      expect(JSON.stringify([problems, shown])).not.toMatch(/hunter2|12345678901/)
    }
  })

  test('in a file that cannot be read are a problem that names the variable, not the file', () => {
    const { problems } = resolveSettings([proxy], sources({ env: { PROXY_KEY_FILE: '/run/private/key' } }))
    expect(problems).toEqual([{ path: 'proxy.key', message: 'the file named by PROXY_KEY_FILE cannot be read' }])
  })

  test('of a section that is not needed stay unread, also where the section cannot do without', () => {
    const login = settingsBlock('login', {
      key: z.string().meta({ env: 'LOGIN_KEY', doc: 'A secret.', secret: true }),
      name: z.string().meta({ doc: 'Its name.' }),
    })
    const read: string[] = []
    const given = sources({
      env: { PROXY_KEY_FILE: '/run/proxy', LOGIN_KEY_FILE: '/run/login' },
      readSecret: (path) => `${secret} ${read.push(path)}`,
      needsSecrets: (section, settled) => section === 'proxy' && !settled.has('proxy'),
    })
    const { problems, values } = resolveSettings([proxy, login], given)
    expect(read).toEqual(['/run/proxy'])
    expect(values.get('proxy')).toMatchObject({ key: `${secret} 1` })
    expect(problems).toEqual([{ path: 'login.name', message: 'is required' }])
  })

  test('only secrets are read from files', () => {
    expect(
      resolveSettings([site], sources({ env: { SITE_NAME_FILE: 'f' }, readSecret: () => 'x' })).problems,
    ).toHaveLength(1)
  })
})

describe('text as a value', () => {
  const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' })
  test.each([
    [z.int(), '-12', -12],
    [z.number(), '1.5e3', 1500],
    [z.number(), '1e', '1e'],
    [z.boolean(), 'true', true],
    [z.boolean(), 'TRUE', 'TRUE'],
    [z.string(), '12', '12'],
    [z.array(z.string()), 'a, b', ['a', 'b']],
    [z.array(z.string()), '', []],
    [z.record(z.string(), z.number()), '{"a":1}', { a: 1 }],
    [z.record(z.string(), z.number()), '{a', '{a'],
    [z.union([z.int(), z.string()]), '7', 7],
    [z.int().optional(), '7', 7],
  ])('%# reads %s', (schema, text, value) => {
    expect(coerceText(schemaOf(schema as z.ZodType), text)).toEqual(value)
  })
})

test('what a field means is found through defaults and optionals', () => {
  const inner = z.string().meta({ doc: 'inside' })
  expect(metaOf(inner.optional().default('x')).doc).toBe('inside')
  expect(metaOf(z.string()).doc).toBe('')
})
