// Joins bundle and Node into one file by pkg, offline, and removes what pkg leaves in it: a trace of chance, a need of a home.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)

/**
 * The bytes of the executable. `node` is what goes in; for a foreign target this machine's Node makes the blob.
 * Not compressed: with Node stripped, Zstd saves 1 MB in 112 and costs 5 to 10 ms at every start.
 */
export function pack({ work, temp, packed, target, node }) {
  const home = path.join(work, 'home')
  seed({ home, target, node })
  if (target !== `linux-${process.arch}`) {
    seed({ home, target: `linux-${process.arch}`, node: { file: process.execPath, version: process.versions.node } })
  }
  const raw = path.join(work, 'raw')
  const pkg = path.join(path.dirname(require.resolve('@yao-pkg/pkg/package.json')), 'lib-es5/bin.js')
  const options = path.join(import.meta.dirname, 'sea-options.mjs')
  const args = ['--import', options, pkg, '--sea', '-t', `node${node.version}-${target}`, '-o', raw, packed]
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: temp, SOURCE_DATE_EPOCH: '0' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`pkg failed: ${status}\n${stdout}\n${stderr}`)
  return withoutHome(withoutTempPath(fs.readFileSync(raw), temp))
}

/** pkg downloads Node unless its cache, found by HOME, says that archive and binary are there and were checked. */
function seed({ home, target, node }) {
  const base = path.join(home, '.pkg-cache/sea', `node-v${node.version}-${target}`)
  fs.mkdirSync(path.join(base, 'bin'), { recursive: true })
  fs.symlinkSync(node.file, path.join(base, 'bin/node'))
  for (const mark of [`${base}.tar.gz`, `${base}.tar.gz.ok`, path.join(base, 'bin/node.ok')]) fs.writeFileSync(mark, '')
}

/** Node writes the path of its start script into the blob, and pkg makes that in a folder with a random name. */
function withoutTempPath(bytes, temp) {
  const path = /^\/tmp\/platform-build-\w{6}\/pkg-sea-\w{6}\/sea-main\.js/
  const length = `${temp}/pkg-sea-`.length
  const places = []
  for (let at = bytes.indexOf(temp); at !== -1; at = bytes.indexOf(temp, at + 1)) {
    if (path.test(bytes.subarray(at, at + 80).toString('latin1'))) places.push(at)
  }
  if (places.length !== 1) throw new Error(`expected one temporary path in the executable, saw ${places.length}`)
  const [at] = places
  bytes.write('000000', at + temp.length - 6, 'latin1')
  bytes.write('000000', at + length, 'latin1')
  return bytes
}

/**
 * At every start pkg asks for the user's home, to unpack native code there, and fails where there is none: a service
 * that runs under a bare number has none. The executable loads its native code itself (adapters/store/sqlite/addon.ts).
 */
function withoutHome(bytes) {
  const asked = 'path.join(homedir(), ".cache")'
  const answer = '"/nonexistent"'.padEnd(asked.length)
  const first = bytes.indexOf(asked)
  if (first === -1) throw new Error('pkg asks for the home in another way now')
  for (let at = first; at !== -1; at = bytes.indexOf(asked, at)) bytes.write(answer, at, 'latin1')
  return bytes
}
