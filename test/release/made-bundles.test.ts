// Bundles as `scripts/release` makes them, for both architectures: verified with and without the product, run where they must run.
import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { runExecutable } from '../support/command/run-executable.ts'
import { readCommands } from '../support/documents/read-commands.ts'
import { listNewerVersions, readNeededVersions } from '../support/release/elf-versions.ts'
import { enterRoot, type MadeBundles, makeBundles, writeLauncher } from '../support/release/made-bundles.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { findTools, whenPresent } from '../support/runner/requires.ts'
import { startDaemon } from '../support/site/daemon-process.ts'

let bundles: MadeBundles
beforeAll(() => {
  bundles = makeBundles()
})
afterAll(() => bundles?.remove())

const { OPENSSL_ROOT, OLD_LIBC_ROOT, ARM64_ROOT, SBOM_PYTHON } = process.env
const withVariable = (name: string) =>
  whenPresent({ isPresent: process.env[name] !== undefined, name, hint: '.ci/run installs and names it' })

function readJson(folder: string, file: string) {
  return JSON.parse(readFileSync(path.join(folder, file), 'utf8'))
}

function workFolder(): string {
  const work = mkdtempSync(path.join(tmpdir(), 'made-bundle-'))
  onTestFinished(() => rmSync(work, { recursive: true, force: true }))
  return work
}

test('the executable verifies the bundles, and refuses one for another machine', async () => {
  const program = path.join(bundles.folders.x64, 'platform')
  const verify = (...words: string[]) =>
    runExecutable(['verify-bundle', ...words, '--keys', bundles.keys], { program, cwd: bundles.out })
  expect(await verify(bundles.folders.x64)).toMatchObject({ exit: 0 })
  const archive = await verify(`${bundles.folders.arm64}.tar`, '--arch', 'arm64', '--json')
  expect(archive.exit, archive.stderr).toBe(0)
  expect(JSON.parse(archive.stdout)).toMatchObject({ valid: true, arch: 'arm64' })
  const refused = await verify(`${bundles.folders.arm64}.tar`, '--arch', 'x64')
  expect([refused.exit, refused.stderr]).toEqual([5, expect.stringContaining('the bundle is for arm64, not for x64')])
})

withVariable('OPENSSL_ROOT')(
  'the printed commands verify a bundle without the product, and find what was changed',
  () => {
    const work = workFolder()
    for (const name of readdirSync(bundles.out).filter((each) => each.endsWith('x64.tar')))
      cpSync(path.join(bundles.out, name), path.join(work, name))
    cpSync(bundles.keys, path.join(work, 'keys'), { recursive: true })
    const libraries = `${OPENSSL_ROOT}/usr/lib/x86_64-linux-gnu`
    const newer = `exec ${OPENSSL_ROOT}/usr/lib64/ld-linux-x86-64.so.2 --library-path ${libraries} ${OPENSSL_ROOT}/usr/bin/openssl "$@"`
    writeLauncher(path.join(work, 'openssl'), newer)
    const commands = readCommands('docs/release.md').get('Verify without the product') ?? []
    expect(commands).toHaveLength(8)
    const [unpack, enter, ...checks] = commands.map(({ text }) => text)
    const check = (at: string, text: string) =>
      spawnSync('bash', ['--norc', '-c', text], { cwd: at, encoding: 'utf8', env: { PATH: `${work}:/usr/bin:/bin` } })
    execFileSync('bash', ['--norc', '-c', unpack ?? ''], { cwd: work })
    expect(enter).toBe('cd platform-*-linux-x64/')
    const folder = path.join(work, path.basename(bundles.folders.x64))
    for (const [at, text] of checks.entries()) {
      const { status, stdout, stderr } = check(folder, text)
      expect([text, stdout, stderr]).toEqual([
        text,
        (commands[at + 2]?.output ?? []).map((line) => `${line}\n`).join(''),
        '',
      ])
      expect([text, status]).toEqual([text, 0])
    }
    // Ed25519 with the openssl of the machine too.
    expect(spawnSync('bash', ['--norc', '-c', checks[0] ?? ''], { cwd: folder }).status).toBe(0)
    writeFileSync(path.join(folder, 'docs/extra.md'), '')
    writeFileSync(path.join(folder, 'README.md'), 'other')
    writeFileSync(
      path.join(folder, 'manifest.json'),
      readFileSync(path.join(folder, 'manifest.json'), 'utf8').replace('"format":1', '"format":2'),
    )
    const statuses = checks
      .map((text) => check(folder, text))
      .map(({ status, stdout }) => status === 0 && stdout === '')
    expect(statuses).toEqual([false, false, false, false, true, false])
  },
)

withVariable('SBOM_PYTHON')('both bills of materials are valid, and list what the executable holds', () => {
  for (const folder of Object.values(bundles.folders)) {
    const files = ['sbom.cdx.json', 'sbom.spdx.json'].map((name) => path.join(folder, name))
    const script = path.join(repositoryRoot, 'test/support/release/validate_sboms.py')
    const { status, stdout, stderr } = spawnSync(SBOM_PYTHON ?? '', [script, ...files], { encoding: 'utf8' })
    expect([status, stdout.trim()], stderr).toEqual([0, ''])
    const names: string[] = readJson(folder, 'sbom.cdx.json').components.map((each: { name: string }) => each.name)
    expect(names).toEqual(
      expect.arrayContaining(['better-sqlite3', 'fastify', 'node', 'node-openssl', 'sqlite', 'zod']),
    )
    expect(names.filter((name) => ['vitest', 'esbuild', 'typescript', 'fast-check'].includes(name))).toEqual([])
    const packages: string[] = readJson(folder, 'sbom.spdx.json').packages.map((each: { name: string }) => each.name)
    expect(packages.toSorted()).toEqual(['platform', ...names].toSorted())
  }
})

test('each component has the text of its licence, and the provenance names commit and inputs', () => {
  const folder = bundles.folders.x64
  type Component = { readonly name: string; readonly version: string; readonly purl: string }
  const components: Component[] = readJson(folder, 'sbom.cdx.json').components
  const without = components.filter(({ name, version, purl }) => {
    const licences = path.join(
      folder,
      'licences',
      purl.includes('?in=node') ? `node-${process.versions.node}` : `${name}-${version}`,
    )
    return !existsSync(licences) || readdirSync(licences).length === 0
  })
  expect(without).toEqual([])
  const { subject, predicate } = readJson(folder, 'provenance.json')
  const sha256 = createHash('sha256')
    .update(readFileSync(path.join(folder, 'platform')))
    .digest('hex')
  expect(subject).toEqual([{ name: 'platform', digest: { sha256 } }])
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' }).trim()
  const inputs: { readonly uri: string; readonly digest: object }[] = predicate.buildDefinition.resolvedDependencies
  expect(inputs[0]).toEqual({ uri: 'urn:platform:source', digest: { gitCommit: head } })
  expect(inputs.every(({ digest }) => Object.values(digest).every((value) => /^[0-9a-f]{40,128}$/.test(value)))).toBe(
    true,
  )
})

test('units, man pages and completions are those of the product', () => {
  const folder = bundles.folders.arm64
  expect(readdirSync(path.join(folder, 'completions'))).toEqual(['_platform', 'platform.bash', 'platform.fish'])
  expect(readFileSync(path.join(folder, 'man/platform-verify-bundle.1'), 'utf8')).toContain(
    'Verify a release bundle offline',
  )
  expect(readFileSync(path.join(folder, 'units/platform-site.service'), 'utf8')).toContain(
    '/usr/local/bin/platform serve',
  )
  expect(readFileSync(path.join(folder, 'docs/book.html')).includes('Verify without the product')).toBe(true)
})

test('every ELF file requires at most what RHEL 8 has', () => {
  const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'platform-release')
  for (const folder of Object.values(bundles.folders)) {
    const inputs: { uri: string; digest: { sha256: string } }[] = readJson(folder, 'provenance.json').predicate
      .buildDefinition.resolvedDependencies
    const digest = inputs.find(({ uri }) => uri.endsWith('better_sqlite3.node'))?.digest.sha256
    const addons = readdirSync(cache)
      .filter((name) => name.endsWith('.node'))
      .map((name) => readFileSync(path.join(cache, name)))
    const addon = addons.find((bytes) => createHash('sha256').update(bytes).digest('hex') === digest)
    for (const file of [addon ?? Buffer.alloc(0), readFileSync(path.join(folder, 'platform'))]) {
      expect(readNeededVersions(file).length).toBeGreaterThan(0)
      expect(listNewerVersions(file)).toEqual([])
    }
  }
  // The addon that better-sqlite3 ships is the counterexample.
  const shipped = readFileSync(path.join(repositoryRoot, 'node_modules/better-sqlite3/prebuilds/linux-x64.node'))
  expect(listNewerVersions(shipped)).toContain('GLIBC_2.34')
})

/** Creates and examines a site, serves it, and sends one request: `dir` is the folder as the executable sees it. */
async function expectToServe(program: string, dir: string, work: string, arch: string): Promise<void> {
  const run = (...words: string[]) => runExecutable(words, { program, env: { PATH: process.env.PATH ?? '' } })
  expect((await run('version')).stdout).toContain(arch)
  const made = await run('init', '--site', dir, '--profile', 'demo', '--port-base', '0', '--yes')
  expect(made.exit, made.stderr).toBe(0)
  const words = ['serve', '--site', dir]
  const daemons = new Set<ChildProcess>()
  onTestFinished(() => daemons.forEach((child) => void child.kill('SIGKILL')))
  const env = { PATH: process.env.PATH ?? '' }
  const { daemon, urls } = await startDaemon({ program, words, env, log: path.join(work, 'serve.log') }, daemons)
  const url = urls.site?.find((each) => each.startsWith('http')) ?? ''
  const response = await fetch(new URL('/oauth2/jwks', url))
  expect([response.status, await response.json()]).toEqual([200, { keys: expect.any(Array) }])
  const session = ['--lens', 'people', '--lens-version', '1', '--m', '1', '--n', '1', '--kind', 'entity_match']
  const created = await run('consensus', 'create', ...session, '--left', 'a/1', '--right', 'b/2', '--site', dir)
  expect(created.exit, created.stderr).toBe(0)
  const examined = await run('doctor', '--site', dir)
  expect(examined.exit, examined.stdout).toBe(0)
  expect(await daemon.stop()).toBe(0)
}

withVariable('OLD_LIBC_ROOT')('the executable for x64 serves a site with an old C library', async () => {
  const work = workFolder()
  const { program, root } = enterRoot(OLD_LIBC_ROOT ?? '', bundles.folders.x64, work)
  expect(readdirSync(path.join(root, 'lib/x86_64-linux-gnu')).filter((name) => /^libc-/.test(name))).toEqual([
    'libc-2.31.so',
  ])
  await expectToServe(program, '/tmp/site', work, 'x64')
})

const emulated = findTools('qemu-aarch64-static')
whenPresent({ ...emulated, isPresent: emulated.isPresent && ARM64_ROOT !== undefined })(
  'the executable for arm64 serves a site under emulation',
  async () => {
    const work = workFolder()
    const executable = path.join(bundles.folders.arm64, 'platform')
    const program = writeLauncher(
      path.join(work, 'platform-arm64'),
      `exec qemu-aarch64-static -L ${ARM64_ROOT} ${executable} "$@"`,
    )
    await expectToServe(program, path.join(work, 'site'), work, 'arm64')
  },
)
