// Builds the previous release from its commit, for tests of upgrades and of federations of two releases; prints its path.
// The executable is cached, and its SHA-256 must be that of release.json.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    release: { type: 'string', default: path.join(import.meta.dirname, 'previous-release/release.json') },
    repository: { type: 'string', default: root },
  },
})
const release = JSON.parse(fs.readFileSync(values.release, 'utf8'))
const target = `linux-${process.arch}`
const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
const folder = path.join(cache, `platform-previous-${release.version}-${release.commit}`)
const executable = path.join(folder, 'platform')

try {
  if (!fs.existsSync(executable)) build()
  requireDigest()
  process.stdout.write(`${executable}\n`)
} catch (error) {
  process.stderr.write(`the release ${release.version} was not built: ${error.message}\n`)
  process.exitCode = 1
}

/** Builds in a folder beside the cached one, which appears when it is complete. */
function build() {
  requireHistory()
  const draft = `${folder}.${process.pid}`
  fs.rmSync(draft, { recursive: true, force: true })
  fs.mkdirSync(path.join(draft, 'source'), { recursive: true })
  try {
    const source = path.join(draft, 'source')
    const archive = path.join(draft, 'source.tar')
    run('git', ['-C', values.repository, 'archive', '--format=tar', `--output=${archive}`, release.commit])
    run('tar', ['-xf', archive, '-C', source])
    run(path.join(source, 'scripts/build'), ['--out', path.join(draft, 'platform')], source)
    fs.rmSync(source, { recursive: true })
    fs.rmSync(archive)
    fs.renameSync(draft, folder)
  } finally {
    fs.rmSync(draft, { recursive: true, force: true })
  }
}

/** A shallow clone lacks the commit; nothing else has the sources of the release. */
function requireHistory() {
  const commit = `${release.commit}^{commit}`
  if (spawnSync('git', ['-C', values.repository, 'cat-file', '-e', commit]).status === 0) return
  const shallow = spawnSync('git', ['-C', values.repository, 'rev-parse', '--is-shallow-repository'], {
    encoding: 'utf8',
  })
  const cause =
    shallow.stdout.trim() === 'true' ? 'this clone is shallow: run `git fetch --unshallow`' : 'fetch the history'
  throw new Error(`its commit ${release.commit} is not in this repository; ${cause}`)
}

function requireDigest() {
  const expected = release.sha256[target]
  const found = createHash('sha256').update(fs.readFileSync(executable)).digest('hex')
  if (expected === undefined) throw new Error(`no digest is pinned for ${target}`)
  if (found !== expected) throw new Error(`SHA-256 of ${executable} is ${found}, and ${expected} is pinned`)
}

function run(command, args, cwd) {
  const { status, error, signal } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0)
    throw new Error(`${path.basename(command)} failed: ${error?.message ?? signal ?? `exit code ${status}`}`)
}
