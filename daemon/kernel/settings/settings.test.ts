// Settings follow the order of precedence, report all problems with their paths, and keep secrets secret.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { coerceText, metaOf, resolveSettings, type SettingSources, settingsBlock } from './settings.ts'

const proxy = settingsBlock('proxy', {
  rate_limit: z
    .int()
    .min(1)
    .default(60)
    .meta({ env: ['RATE_LIMIT', 'PROXY_RATE'], doc: 'Requests a minute.' }),
  is_open: z.boolean().default(false).meta({ env: 'PROXY_OPEN', doc: 'Whether it is open.', nested: 'access.open' }),
  hosts: z.array(z.string()).default([]).meta({ env: 'PROXY_HOSTS', doc: 'Names.' }),
  key: z.string().min(8).optional().meta({ env: 'PROXY_KEY', doc: 'A secret.', secret: true }),
})
const site = settingsBlock('site', { name: z.string().meta({ env: 'SITE_NAME', doc: 'Its name.' }) })

const sources = (overrides: Partial<SettingSources> = {}): SettingSources => ({
  profile: {},
  env: {},
  flags: {},
  resolvePath: (path) => (path.startsWith('/') ? path : `/profile/${path}`),
  readSecret: () => {
    throw new Error('cannot be read (ENOENT)')
  },
  needsSecrets: () => true,
  ...overrides,
})
const explained = (overrides: Partial<SettingSources>, setting: string) =>
  resolveSettings([proxy], sources(overrides)).explained.find((entry) => entry.setting === setting)

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
  ])('%s', (origin, overrides, value) => {
    expect(explained(overrides, 'proxy.rate_limit')).toMatchObject({ origin, value })
    expect(resolveSettings([proxy], sources(overrides)).values.get('proxy')).toMatchObject({ rate_limit: value })
  })

  test.each<[unknown, object, Record<string, string>]>([
    [true, { origin: 'profile', value: true }, {}],
    [true, { origin: 'environment PROXY_OPEN', value: false }, { PROXY_OPEN: 'false' }],
  ])('a field that the documents nest is read there: %j', (open, expected, env) => {
    const nested = { profile: { proxy: { access: { open } } }, env }
    expect(explained(nested, 'proxy.is_open')).toMatchObject(expected)
    expect(resolveSettings([proxy], sources(nested)).problems).toEqual([])
  })

  test.each<[string, object, string[]]>([
    ['both forms', { is_open: false, access: { open: true } }, ['proxy.access.open']],
    ['a wrong value', { access: { open: 'x' } }, ['proxy.is_open']],
    ['another name in the group', { access: { open: true, closed: true } }, ['proxy.access']],
    ['another group', { entry: { open: true } }, ['proxy.entry']],
    ['a name of every object', { access: { constructor: true } }, ['proxy.access']],
  ])('%s in a nested field is a problem', (_, section, paths) => {
    const { problems } = resolveSettings([proxy], sources({ profile: { proxy: section } }))
    expect(problems.map(({ path }) => path)).toEqual(paths)
  })

  test('an empty variable counts as unset', () => {
    expect(explained({ env: { RATE_LIMIT: '' } }, 'proxy.rate_limit')).toMatchObject({ origin: 'default', value: 60 })
  })
})

describe('problems', () => {
  test('are reported all at once, each with its path', () => {
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

  test('a section that is not a mapping is one problem; an empty section is valid', () => {
    expect(resolveSettings([proxy], sources({ profile: { proxy: 3 } })).problems).toEqual([
      { path: 'proxy', message: 'must be a mapping' },
    ])
    expect(resolveSettings([proxy], sources({ profile: { proxy: null } })).problems).toEqual([])
  })

  test('text that does not fit the type is a problem', () => {
    for (const text of ['3x', '1.5', '0x10', ' 3', 'Infinity', 'NaN']) {
      expect(resolveSettings([proxy], sources({ env: { RATE_LIMIT: text } })).problems).toHaveLength(1)
    }
    expect(resolveSettings([proxy], sources({ env: { PROXY_OPEN: 'yes' } })).problems).toHaveLength(1)
  })
})

describe('paths', () => {
  const files = settingsBlock('files', {
    key_file: z.string().optional().meta({ env: 'KEY_FILE', doc: 'A file.' }),
    backup_dir: z.string().optional().meta({ doc: 'A folder.' }),
    data_folder: z.string().optional().meta({ doc: 'A folder.' }),
    verify: z.union([z.boolean(), z.string()]).default(true).meta({ doc: 'Whether, or a file of authorities.' }),
    peers: z.record(z.string(), z.looseObject({})).default({}).meta({ doc: 'By name.' }),
    sources: z.array(z.looseObject({})).default([]).meta({ doc: 'A list.' }),
  })
  const valuesOf = (overrides: Partial<SettingSources>) =>
    resolveSettings([files], sources(overrides)).values.get('files')

  test('that are relative begin at the folder of the profile, at any depth and from any origin', () => {
    const profile = {
      files: {
        ...{ backup_dir: 'backups', data_folder: './data', verify: 'ca.pem' },
        peers: { bravo: { url: 'https://bravo', ca_file: 'bravo.pem', keys: ['k'] } },
        sources: [
          { kind: 'webhook', secret_files: ['a', '/run/b'] },
          { kind: 'folder', path: 'spool' },
          { kind: 'http', path: 'not/a/file' },
          { peer: 'bravo', file: 'people.csv' },
        ],
      },
    }
    expect(valuesOf({ profile, env: { KEY_FILE: 'key.pem' } })).toEqual({
      ...{ key_file: '/profile/key.pem', backup_dir: '/profile/backups', data_folder: '/profile/./data' },
      verify: '/profile/ca.pem',
      peers: { bravo: { url: 'https://bravo', ca_file: '/profile/bravo.pem', keys: ['k'] } },
      sources: [
        { kind: 'webhook', secret_files: ['/profile/a', '/run/b'] },
        { kind: 'folder', path: '/profile/spool' },
        { kind: 'http', path: 'not/a/file' },
        { peer: 'bravo', file: 'people.csv' },
      ],
    })
  })

  test('that are absolute stay, and so does what is not a path', () => {
    const profile = { files: { key_file: '/etc/key.pem', verify: false } }
    expect(valuesOf({ profile })).toMatchObject({ key_file: '/etc/key.pem', verify: false })
  })

  test('of secrets in the environment begin there as well', () => {
    const read: string[] = []
    const readSecret = (path: string) => `${read.push(path)} hunter2`
    resolveSettings([proxy], sources({ env: { PROXY_KEY_FILE: 'key' }, readSecret }))
    expect(read).toEqual(['/profile/key'])
  })
})

describe('secrets', () => {
  const secret = 'hunter2-hunter2'

  test('are read from the file that a variable names, without the trailing line break', () => {
    const overrides = sources({ env: { PROXY_KEY_FILE: '/run/key' }, readSecret: (path) => `${secret} of ${path}\n` })
    expect(resolveSettings([proxy], overrides).values.get('proxy')).toMatchObject({ key: `${secret} of /run/key` })
    expect(resolveSettings([proxy], overrides).explained.at(-1)).toMatchObject({ origin: 'environment PROXY_KEY_FILE' })
  })

  test('are never shown in explanations, whatever their origin', () => {
    const all: Partial<SettingSources>[] = [
      { profile: { proxy: { key: secret } } },
      { env: { PROXY_KEY: secret } },
      { flags: { 'proxy.key': secret } },
      { env: { PROXY_KEY_FILE: 'f' }, readSecret: () => secret },
    ]
    for (const overrides of all) {
      expect(explained(overrides, 'proxy.key')).toMatchObject({ value: '[redacted]', secret: true })
      expect(JSON.stringify(resolveSettings([proxy], sources(overrides)).explained)).not.toContain('hunter2')
    }
    expect(explained({}, 'proxy.key')).toMatchObject({ value: undefined })
  })

  test('that are invalid are not quoted in the problem', () => {
    for (const wrong of ['hunter2', 12_345_678_901, { hunter2: 'hunter2' }]) {
      const { problems, explained: shown } = resolveSettings([proxy], sources({ profile: { proxy: { key: wrong } } }))
      expect(problems).toHaveLength(1)
      expect(JSON.stringify([problems, shown])).not.toMatch(/hunter2|12345678901/)
    }
  })

  test('in an unreadable file are a problem that names the variable, not the file', () => {
    const { problems } = resolveSettings([proxy], sources({ env: { PROXY_KEY_FILE: '/run/private/key' } }))
    expect(problems).toEqual([
      { path: 'proxy.key', message: 'the file named by PROXY_KEY_FILE cannot be read (ENOENT)' },
    ])
  })

  test('of a section that is not needed are not read, even where the section requires them', () => {
    const login = settingsBlock('login', {
      key: z.string().meta({ env: 'LOGIN_KEY', doc: 'A secret.', secret: true }),
      name: z.string().meta({ doc: 'Its name.' }),
    })
    const read: string[] = []
    const overrides = sources({
      env: { PROXY_KEY_FILE: '/run/proxy', LOGIN_KEY_FILE: '/run/login' },
      readSecret: (path) => `${secret} ${read.push(path)}`,
      needsSecrets: (section, values) => section === 'proxy' && !values.has('proxy'),
    })
    const { problems, values } = resolveSettings([proxy, login], overrides)
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

test('metadata of a field is found through defaults and optionals', () => {
  const inner = z.string().meta({ doc: 'inside' })
  expect(metaOf(inner.optional().default('x')).doc).toBe('inside')
  expect(metaOf(z.string()).doc).toBe('')
})
