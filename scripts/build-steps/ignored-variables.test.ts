// The Node of the executable ignores variables that change what it runs, trusts or writes: tried with that very Node.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withoutVariables } from './ignored-variables.mjs'

let dir: string
let node: string

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'variables-'))
  node = path.join(dir, 'node')
  writeFileSync(node, withoutVariables(readFileSync(process.execPath)))
  chmodSync(node, 0o700)
  writeFileSync(path.join(dir, 'empty.cjs'), '')
  writeFileSync(path.join(dir, 'required.cjs'), 'console.log("required")')
  writeFileSync(path.join(dir, 'authority.pem'), rootCertificates[0] ?? '')
  writeFileSync(path.join(dir, 'openssl.cnf'), '[broken\n')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Output and failure of a program under one Node, with one variable. */
function run(program: string, name: string, value: string, source: string): string {
  try {
    return execFileSync(program, ['-e', source], { env: { [name]: value }, cwd: dir, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return (error as { stderr: string }).stderr
  }
}

test.each<[name: string, value: string, source: string, unchanged: RegExp, ignored: RegExp]>([
  ['NODE_OPTIONS', '--require ./required.cjs', '', /required/, /^$/],
  ['NODE_EXTRA_CA_CERTS', 'authority.pem', 'console.log(tls.getCACertificates("extra").length)', /^1$/m, /^0$/m],
  // Where the system has authorities of its own; elsewhere the numbers are equal.
  ['NODE_USE_SYSTEM_CA', '1', 'console.log(tls.getCACertificates().length - tls.rootCertificates.length)', /./, /^0$/m],
  [
    'NODE_PENDING_DEPRECATION',
    '1',
    `process.on('warning', (w) => console.log(w.code)); process.binding('util')`,
    /DEP0111/,
    /^$/,
  ],
  ['OPENSSL_CONF', 'openssl.cnf', 'console.log("started")', /OpenSSL/i, /^started$/m],
])('%s', (name, value, source, unchanged, ignored) => {
  expect(run(process.execPath, name, value, source)).toMatch(unchanged)
  expect(run(node, name, value, source)).toMatch(ignored)
})

test.each(['NODE_COMPILE_CACHE', 'NODE_V8_COVERAGE', 'NODE_REDIRECT_WARNINGS'])('%s makes no file', (name) => {
  const source = 'require("./empty.cjs"); process.emitWarning("a warning")'
  const [unchanged, changed] = [path.join(dir, `${name}-unchanged`), path.join(dir, `${name}-changed`)]
  run(process.execPath, name, unchanged, source)
  run(node, name, changed, source)
  expect(existsSync(unchanged)).toBe(true)
  expect(existsSync(changed)).toBe(false)
})
