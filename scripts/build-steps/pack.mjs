// Packs bundle and Node into one file with pkg, offline; removes the random path, the use of a home folder and the memo that pkg adds.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)

/** Builds the bytes of the executable. `node` goes into it; for another architecture, this machine's Node makes the blob. */
export function pack({ work, temp, packed, target, node }) {
  const home = path.join(work, 'home')
  seed({ home, target, node })
  if (target !== `linux-${process.arch}`) {
    seed({ home, target: `linux-${process.arch}`, node: { file: process.execPath, version: process.versions.node } })
  }
  const raw = path.join(work, 'raw')
  const pkg = path.join(path.dirname(require.resolve('@yao-pkg/pkg/package.json')), 'lib-es5/bin.js')
  const options = path.join(import.meta.dirname, 'sea-options.mjs')
  // Zstd packs as well, but leaves 5 MB of its windows behind in the memory of a process.
  const form = ['--sea', '--compress', 'GZip', '-t', `node${node.version}-${target}`]
  const args = ['--import', options, pkg, ...form, '-o', raw, packed]
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: temp, SOURCE_DATE_EPOCH: '0' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`pkg failed: ${status}\n${stdout}\n${stderr}`)
  return withoutMemo(withoutHome(withoutTempPath(fs.readFileSync(raw), temp)))
}

/** Fills the cache of pkg, found by HOME, with markers of a verified archive and binary, so that pkg downloads nothing. */
function seed({ home, target, node }) {
  const base = path.join(home, '.pkg-cache/sea', `node-v${node.version}-${target}`)
  fs.mkdirSync(path.join(base, 'bin'), { recursive: true })
  fs.symlinkSync(node.file, path.join(base, 'bin/node'))
  for (const mark of [`${base}.tar.gz`, `${base}.tar.gz.ok`, path.join(base, 'bin/node.ok')]) fs.writeFileSync(mark, '')
}

/** Replaces the random folder name of the start script, which Node writes into the blob. */
function withoutTempPath(bytes, temp) {
  const path = /^\/tmp\/platform-build-\w{6}\/pkg-sea-\w{6}\/sea-main\.js/
  const length = `${temp}/pkg-sea-`.length
  const offsets = []
  for (let at = bytes.indexOf(temp); at !== -1; at = bytes.indexOf(temp, at + 1)) {
    if (path.test(bytes.subarray(at, at + 80).toString('latin1'))) offsets.push(at)
  }
  if (offsets.length !== 1) throw new Error(`expected one temporary path in the executable, found ${offsets.length}`)
  const [at] = offsets
  bytes.write('000000', at + temp.length - 6, 'latin1')
  bytes.write('000000', at + length, 'latin1')
  return bytes
}

/**
 * Replaces the look-up of the user's home, where pkg unpacks native code at every start. It fails for a service without a
 * home. The executable loads its native code itself (adapters/store/sqlite/addon.ts).
 */
function withoutHome(bytes) {
  return replaceText(bytes, 'path.join(homedir(), ".cache")', '"/nonexistent"')
}

/** Removes the memo of unpacked files: each is read once, and would stay in memory for as long as the process runs. */
function withoutMemo(bytes) {
  return replaceText(bytes, 'this._fileCache.set(p, buf)', '0')
}

/** Replaces a text of the start script of pkg, and pads it to its length. */
function replaceText(bytes, text, replacement) {
  const first = bytes.indexOf(text)
  if (first === -1) throw new Error(`pkg no longer contains ${text}; adapt pack.mjs`)
  const padded = replacement.padEnd(text.length)
  for (let at = first; at !== -1; at = bytes.indexOf(text, at)) bytes.write(padded, at, 'latin1')
  return bytes
}
