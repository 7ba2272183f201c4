// Checks the executable: the same bytes from the same sources, a bounded size, and no need of its surroundings.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
let folder: string
let first: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'platform-binary-'))
  first = build('first')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function build(name: string): string {
  const out = path.join(folder, name)
  execFileSync(path.join(root, 'scripts/build'), ['--out', out], { stdio: 'pipe' })
  return out
}

test('two builds of the same sources are the same bytes', () => {
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
  expect(digest(build('second'))).toBe(digest(first))
})

test('a build leaves nothing beside its result', () => {
  // The script becomes the build (exec), so its process id names the folder that the build worked in.
  const { pid, status } = spawnSync(path.join(root, 'scripts/build'), ['--out', path.join(folder, 'third')])
  expect(status).toBe(0)
  expect(existsSync(path.join(root, 'dist', `.work-${pid}`))).toBe(false)
  expect(readdirSync(folder).filter((name) => !['first', 'second', 'third', 'home'].includes(name))).toEqual([])
})

test('it holds neither the folder it was built in nor the user who built it', () => {
  expect(readFileSync(first).includes(Buffer.from(`${root}/`))).toBe(false)
})

test('it is at most 120 MB', () => {
  expect(statSync(first).size).toBeLessThanOrEqual(120e6)
})

test('version answers with no environment and a HOME that cannot be written', () => {
  const home = path.join(folder, 'home')
  mkdirSync(home)
  chmodSync(home, 0o500)
  for (const env of [{}, { HOME: home }, { HOME: '/nonexistent' }]) {
    const { status, stdout, stderr } = spawnSync(first, ['version', '--json'], { env, cwd: home, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ version: manifestVersion(), arch: process.arch })
  }
  // A superuser may write anywhere, so that nothing was written is looked at, too.
  expect(readdirSync(home)).toEqual([])
  expect(existsSync('/nonexistent')).toBe(false)
})

test.each([
  ['NODE_OPTIONS', '--inspect-brk=0'],
  ['NODE_OPTIONS', '--require ./hostile.cjs'],
  ['NODE_V8_COVERAGE', 'files'],
  ['NODE_COMPILE_CACHE', 'files'],
  ['NODE_EXTRA_CA_CERTS', '/nonexistent'],
  ['OPENSSL_CONF', 'hostile.cjs'],
])('%s=%s changes nothing', (name, value) => {
  const cwd = mkdtempSync(path.join(folder, 'variables-'))
  writeFileSync(path.join(cwd, 'hostile.cjs'), 'console.log("[hostile")')
  const { status, stdout, stderr } = spawnSync(first, ['version', '--json'], {
    env: { [name]: value },
    cwd,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ version: manifestVersion() })
  expect(readdirSync(cwd)).toEqual(['hostile.cjs'])
  rmSync(cwd, { recursive: true })
})

test('an option of Node is an argument of the program, and no more', () => {
  const { status, stderr } = spawnSync(first, ['--inspect', 'version'], { env: {}, encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).not.toContain('Debugger listening')
})

test('an unknown target is refused as wrong usage', () => {
  const { status, stderr } = spawnSync(path.join(root, 'scripts/build'), ['--target', 'plan9-vax'], {
    encoding: 'utf8',
  })
  expect(status).toBe(2)
  expect(stderr).toContain('linux-x64, linux-arm64')
})

function manifestVersion(): string {
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version
}
