// Keys, signatures and passphrases of the product in a Node whose cryptography is the FIPS provider of OpenSSL.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { whenPresent } from '../support/runner/requires.ts'

const { OPENSSL_ROOT = '' } = process.env
const script = path.join(repositoryRoot, 'test/support/release/use-keys.mjs')
const libraries = `${OPENSSL_ROOT}/usr/lib/x86_64-linux-gnu`

/** The configuration that activates the provider, with the digest of its module, as an operator makes it. */
function writeConfiguration(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fips-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const module = `${libraries}/ossl-modules/fips.so`
  const openssl = [
    `${OPENSSL_ROOT}/usr/lib64/ld-linux-x86-64.so.2`,
    '--library-path',
    libraries,
    `${OPENSSL_ROOT}/usr/bin/openssl`,
  ] as const
  const [program, ...words] = openssl
  const install = ['fipsinstall', '-quiet', '-out', path.join(folder, 'fipsmodule.cnf'), '-module', module]
  execFileSync(program, [...words, ...install], { stdio: 'pipe' })
  const file = path.join(folder, 'openssl.cnf')
  const sections = {
    openssl_init: ['providers = providers', 'alg_section = algorithms'],
    providers: ['fips = fips_sect', 'base = base'],
    base: ['activate = 1'],
    algorithms: ['default_properties = fips=yes'],
  }
  const lines = Object.entries(sections).flatMap(([name, fields]) => [`[${name}]`, ...fields])
  const head = ['nodejs_conf = openssl_init', `.include ${folder}/fipsmodule.cnf`]
  writeFileSync(file, [...head, ...lines, ''].join('\n'))
  return file
}

function useKeys(env: Readonly<Record<string, string>>): unknown {
  return JSON.parse(execFileSync(process.execPath, [script], { env, encoding: 'utf8' }))
}

whenPresent({ isPresent: OPENSSL_ROOT !== '', name: 'OPENSSL_ROOT', hint: '.ci/run installs and names it' })(
  'all keys work with the FIPS provider, which has none of the other algorithms',
  () => {
    const keys = { Ed25519: true, ES384: true, 'ML-DSA-87': true }
    const others = (isUsable: boolean) =>
      Object.fromEntries(['md5', 'x25519', 'chacha20', 'scrypt', 'argon2'].map((name) => [name, isUsable]))
    const env = { OPENSSL_CONF: writeConfiguration(), OPENSSL_MODULES: `${libraries}/ossl-modules` }
    expect(useKeys(env)).toEqual({ fips: 1, ...keys, ...others(false) })
    expect(useKeys({})).toEqual({ fips: 0, ...keys, ...others(true) })
  },
)
