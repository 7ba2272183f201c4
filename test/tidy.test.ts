// Rules of the repository that neither the compiler nor the linter checks: imports, names, sizes, dead files.
// Function length, default exports, re-exports and `any` are rules of the linter, in biome.json.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectNone } from './support/repository/expect-none.ts'
import { findImportObjection } from './support/repository/import-table.ts'
import { listRepositoryFiles, readSource, repositoryRoot, type SourceFile } from './support/repository/source-tree.ts'

const files = listRepositoryFiles()
const sources = files.filter((file) => /\.(ts|tsx|mjs)$/.test(file)).map(readSource)
const isTest = (file: string) => /\.test\.tsx?$/.test(file)
const manifest = JSON.parse(readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))

/** Names that must not be used in some part of the repository, and what to use there. */
const bans: readonly { name: RegExp; within: RegExp; except?: RegExp; use: string }[] = [
  {
    name: /^console\./,
    within: /^(daemon|adapters)\//,
    use: 'the log of the call, or the log contract of the kernel: events with fields',
  },
  {
    name: /^(Date\.now|new Date\(\)|performance\.now)$/,
    within: /^daemon\/(roles|kernel|shared)\//,
    use: 'call.now(), or a `now` parameter: time is injected',
  },
  {
    name: /^(Math\.random|crypto\.randomUUID|crypto\.getRandomValues|randomUUID\(\)|randomBytes\(\))$/,
    within: /^daemon\/(roles|kernel|shared)\//,
    use: 'the ids and randomness of the call',
  },
  {
    name: /^(setTimeout|setInterval|setImmediate)\(\)$/,
    within: /^daemon\/(roles|kernel|shared)\//,
    use: 'a worker with a schedule: boot runs it',
  },
  {
    name: /^process\.(env|argv|exit|cwd)$/,
    within: /^(daemon|adapters)\//,
    except: /^daemon\/(boot|offline)\//,
    use: 'a setting, or a parameter from boot',
  },
  {
    name: /^(setTimeout|sleep|delay)\(\)$/,
    within: /\.test\.tsx?$/,
    use: 'vi.waitFor or expect.poll on the condition itself',
  },
  {
    name: /^JSON\.parse$/,
    within: /^(cli|daemon\/(boot|kernel|offline|shared)|adapters\/(identity|intake|keys|peers|serve|transport))\//,
    // What this site wrote itself, or has read strictly before.
    except: new RegExp(
      [
        '^cli/client/event-stream',
        '^daemon/boot/links/inbound-delivery',
        '^daemon/kernel/(encoding/|label/label)',
        '^adapters/keys/jose/wrapped-key',
        '^adapters/serve/(http/untrusted-json|mcp/answer-message)',
        '^adapters/transport/filedrop/(sending/own-message|quarantine/purge-orders)',
        '\\.test\\.ts$',
      ].join('|'),
    ),
    use: 'parseJson of daemon/kernel/encoding/parse-json.ts: JSON that names a member twice has two meanings',
  },
  {
    name: /^(console\.|process\.(stdout|stderr)(\.write)?$)/,
    within: /^cli\//,
    except: /^cli\/terminal\/terminal\.ts$/,
    use: 'the terminal of the command, which escapes what others wrote',
  },
  {
    name: /(^|\.)(create(Secure)?Server\(\)|(dataListener|serveHttp|serveExchanges)\(\)|listen(\(\))?)$/,
    within: /^(daemon|adapters)\//,
    except: new RegExp(
      [
        '^adapters/(forward/http/listener-server|serve/http/serve-http|transport/mtls/listener)',
        '^daemon/boot/(open-listener|site-runtime)',
        // Threads that serve the declared listener of the proxy, and probes whether a port is free.
        '^daemon/runtime/proxy/(threads/|require-free-port)',
        '^daemon/offline/doctor/checks/ports',
        '\\.test\\.ts$',
      ].join('|'),
    ),
    use: 'the listeners of the outline, and `listeners` of the wire: boot opens them, and every rule for listeners knows them',
  },
  { name: /^(eval\(\)|new Function\(\)|Function\(\))$/, within: /^/, use: 'a function' },
]

/** Texts that no file may contain, written in pieces so that this file does not. */
const texts: readonly { text: RegExp; say: string }[] = [
  { text: new RegExp(`(^|[\\s'"\`(=:])/(${'work'}|${'root'}|${'Users'}|home/[a-z]+)/`), say: 'a path of one machine' },
  {
    text: new RegExp(['registry\\.npmjs', 'npmjs\\.(org|com)', 'pypi\\.org', 'artifactory'].join('|')),
    say: 'a registry',
  },
  { text: new RegExp(`\\b(${'TO'}${'DO'}|${'FIX'}${'ME'}|${'XX'}X)\\b`), say: 'a note to self; open an issue instead' },
]
const unreadTexts: Readonly<Record<string, string>> = {
  'test/tidy.test.ts': 'holds the patterns',
  'package-lock.json': 'written by npm; its own test is below',
}

describe('imports', () => {
  test('each part of the code imports only what the table allows', () => {
    const wrong = sources.flatMap(({ path: file, imports }) =>
      imports.flatMap((imported) => {
        const why = findImportObjection(file, imported)
        return why ? [`${file} imports ${imported}: ${why}`] : []
      }),
    )
    expectNone(wrong)
  })

  test('each source file is reached from the command line, a script, or a test other than its own', () => {
    const reached = reachable()
    const dead = sources.map(({ path: file }) => file).filter((file) => !reached.has(file))
    const remedy = 'nothing imports it: add an operation to role.ts, a command to command-catalogue.ts, or delete it'
    expectNone(dead.map((file) => `${file}: ${remedy}`))
  })

  test('each exported value is named by another file', () => {
    const fileCounts = new Map<string, number>()
    for (const { text } of sources)
      for (const word of new Set(text.match(/\w+/g))) fileCounts.set(word, (fileCounts.get(word) ?? 0) + 1)
    const unused = sources
      .filter(({ path: file }) => !file.startsWith('test/'))
      .flatMap(({ path: file, text }) =>
        [...text.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
          .filter(([, name = '']) => fileCounts.get(name) === 1)
          .map(([, name]) => `${file} exports ${name}, which no other file names`),
      )
    expectNone(unused)
  })

  test('each relative import names a file', () => {
    const missing = sources.flatMap(({ path: file, imports }) =>
      imports
        .filter((imported) => /\.(tsx?|mjs|json)$/.test(imported) && !files.includes(imported))
        .map((imported) => `${file} imports ${imported}`),
    )
    expectNone(missing)
  })
})

test('a screen shows text by the one part that escapes it', () => {
  const texts = sources.filter(
    ({ path: file, text }) => file.startsWith('cli/') && /import \{[^}]*\bText\b[^}]*\} from 'ink'/.test(text),
  )
  expect(texts.map(({ path: file }) => file)).toEqual(['cli/admin/parts/tone-text.tsx'])
})

/** A line end inside a template, or between texts that are not the notes of a command. */
const plainLineEnd = /`[^`\n]*\\n[^`\n]+`|(?<!^ {2}\])\.join\('[^']*\\n[^']*'\)/m
/** Files that write lines to a file, a stream or a prose of their own, and print none of them as they are. */
const writers =
  /^cli\/(program\/(program|completion-script|manual-pages)|demo\/people|client\/event-stream|commands\/(resolve\/registry\/export|tools\/call)|admin\/detail)\.ts$|^daemon\/offline\/(doctor\/path-faults|resolve\/lens\/lens-import|site\/profile-template|install\/(service-units|shell-supervisor))\.ts$/

test('a command joins the lines that it prints with the breaks of its terminal', () => {
  const isChecked = (file: string) => /^(cli|daemon\/offline)\//.test(file) && !isTest(file)
  const wrong = sources
    .filter(({ path: file, text }) => isChecked(file) && plainLineEnd.test(text))
    .map((each) => each.path)
  expectNone(
    wrong
      .filter((file) => !writers.test(file))
      .map(
        (file) => `${file}: a plain line end is printed as an escape; use line_break, or lines of an error's details`,
      ),
  )
  expect(plainLineEnd.test('`fields\\n\\ntable`')).toBe(true)
})

/** Libraries that only some sites need: a plain site must neither wait for them nor keep them in memory. */
const loadedWhenNeeded = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace',
  'undici/lib/dispatcher/agent.js',
]

/** Modules that every daemon loads, under any profile. */
const loadedAlways = () =>
  closure(['cli/main.ts', 'cli/commands/serve.ts', 'daemon/boot/serve.ts'], ({ loads }) => loads)

test('a daemon loads the outline of each role, and a role itself when it starts it', () => {
  const ofRoles = [...loadedAlways()].filter((file) =>
    /^daemon\/(every-role|roles\/[^/]+\/(outline|role))\.ts$/.test(file),
  )
  const outlines = sources
    .map(({ path: file }) => file)
    .filter((file) => /^daemon\/roles\/[^/]+\/outline\.ts$/.test(file))
  expect(outlines.length).toBeGreaterThanOrEqual(3)
  expect(ofRoles.sort()).toEqual(outlines.sort())
})

test('a command loads a role only when it needs it', () => {
  const ofCommands = sources.map(({ path: file }) => file).filter((file) => /^(cli|daemon\/offline)\//.test(file))
  const reached = [
    ...closure(
      ofCommands.filter((file) => !isTest(file)),
      ({ loads }) => loads,
    ),
  ]
  expect(reached).toContain('daemon/roles/site/outline.ts')
  expectNone(reached.filter((file) => /^daemon\/roles\/[^/]+\/role\.ts$/.test(file)))
})

test.each(loadedWhenNeeded)('%s is loaded by no site that does not need it', (library) => {
  const reached = loadedAlways()
  expect(reached.has('adapters/serve/http/serve-http.ts')).toBe(true)
  const loading = sources.filter(({ path: file, loads }) => reached.has(file) && loads.includes(library))
  expectNone(loading.map(({ path: file }) => file))
})

describe('dependencies', () => {
  const declared = Object.keys(manifest.dependencies)
  const all = [...declared, ...Object.keys(manifest.devDependencies), ...Object.keys(manifest.optionalDependencies)]

  test('each runtime dependency is imported by the product', () => {
    const used = new Set(sources.filter(({ path: file }) => !isTest(file)).flatMap(({ imports }) => imports))
    expectNone(declared.filter((name) => !used.has(name)))
  })

  test('each dependency has an exact version and a reason in docs/dependencies.md', () => {
    const reasons = readFileSync(path.join(repositoryRoot, 'docs/dependencies.md'), 'utf8')
    expectNone(all.filter((name) => !reasons.includes(`\`${name}\``)))
    const versions = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    expectNone(Object.values(versions).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version))))
  })

  test('the lock file says nothing of where packages came from', () => {
    expect(readFileSync(path.join(repositoryRoot, 'package-lock.json'), 'utf8')).not.toContain('"resolved"')
  })
})

describe('files', () => {
  test('names are kebab-case, and say more than utils, helpers, common, manager or index', () => {
    const code = files
      .filter((file) => /\.(ts|tsx|mjs|yaml)$/.test(file) && !file.startsWith('.'))
      // Helm prescribes the name.
      .filter((file) => file !== 'docs/kubernetes/Chart.yaml')
    const wrong = code.filter((file) => {
      const words = file.replace(/(\.(test|config|spec))?\.\w+$/, '').split('/')
      return words.some((word) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(word) || isEmptyName(word))
    })
    expectNone(wrong)
  })

  test('each opens with a sentence that says why it exists', () => {
    const code = sources.filter(({ text }) => !/^(#!.*\n)?(\/\/ |\/\*\* )[A-Z"'`<]/.test(text)).map((file) => file.path)
    const scripts = files
      .filter((file) => /^(scripts|\.ci)\/[a-z-]+$/.test(file))
      .filter((file) => !/^#!.*\n# [A-Z]/.test(readFileSync(path.join(repositoryRoot, file), 'utf8')))
    expectNone([...code, ...scripts])
  })

  test('none is longer than one thought: 250 lines, tests 400', () => {
    const long = sources
      .map(({ path: file, text }) => ({ file, lines: text.split('\n').length - 1 }))
      .filter(({ file, lines }) => lines > (isTest(file) ? 400 : 250))
    expectNone(long)
  })

  test('none holds a path of one machine, a registry, or a note to self', () => {
    const wrong = files
      .filter((file) => !(file in unreadTexts))
      .flatMap((file) => {
        const text = readFileSync(path.join(repositoryRoot, file), 'utf8')
        return texts.filter((banned) => banned.text.test(text)).map(({ say }) => `${file}: ${say}`)
      })
    expectNone(wrong)
  })
})

test('no banned name is used; each has a replacement', () => {
  const wrong = sources.flatMap(({ path: file, names }) =>
    names.flatMap(({ name, line }) =>
      bans
        .filter((ban) => ban.name.test(name) && ban.within.test(file) && !ban.except?.test(file))
        .map(({ use }) => `${file}:${line} uses ${name}; use ${use}`),
    ),
  )
  expectNone(wrong)
})

function isEmptyName(word: string): boolean {
  return word === 'index' || word.split('-').some((part) => /^(utils?|helpers?|common|managers?|misc)$/.test(part))
}

/** A test does not keep its own subject alive: code that only its test uses is dead. */
function reachable(): Set<string> {
  const isRoot = (file: string) =>
    /^(cli\/main\.ts|daemon\/runtime\/[a-z]+\/([a-z]+\/)?([a-z]+-)?thread\.ts|adapters\/format\/[a-z]+\/[a-z]+-thread\.ts|vitest\.config\.ts|scripts\/([^/]+|build-steps\/sea-options)\.mjs|test\/(bench|soak)\/[^/]+\.ts|test\/support\/.+\.mjs)$/.test(
      file,
    ) || isTest(file)
  const roots = sources.map(({ path: file }) => file).filter(isRoot)
  return closure(roots, ({ path: file, imports }) => {
    const subject = isTest(file) ? file.replace('.test.', '.') : undefined
    return imports.filter((imported) => imported !== subject)
  })
}

/** The files from which `follow` leads on, and all that it leads to. */
function closure(roots: readonly string[], follow: (source: SourceFile) => readonly string[]): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const visit = (file: string) => {
    if (reached.has(file)) return
    reached.add(file)
    const source = byPath.get(file)
    if (source) for (const next of follow(source)) visit(next)
  }
  for (const file of roots) visit(file)
  return reached
}
