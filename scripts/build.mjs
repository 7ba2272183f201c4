// One command from sources to one executable: bundle, strip Node, pack, and make the result the same on every run.
// With --fault-points it is one for tests alone, which ends itself at a step of the carrier that the environment names.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from './build-steps/bundle.mjs'
import { isFresh } from './build-steps/freshness.mjs'
import { nodeFor } from './build-steps/node-binary.mjs'
import { pack } from './build-steps/pack.mjs'

const root = path.resolve(import.meta.dirname, '..')
const targets = { 'linux-x64': 'platform', 'linux-arm64': 'platform-arm64' }
const host = `linux-${process.arch}`

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: host },
    out: { type: 'string' },
    'if-stale': { type: 'boolean', default: false },
    'fault-points': { type: 'boolean', default: false },
  },
})
const target = values.target
if (!Object.hasOwn(targets, target)) {
  console.error(`unknown target ${target}; known: ${Object.keys(targets).join(', ')}`)
  process.exit(2)
}
const name = `${target === host ? 'platform' : targets[target]}${values['fault-points'] ? '-fault-points' : ''}`
const out = path.resolve(values.out ?? path.join(root, 'dist', name))
if (values['if-stale'] && isFresh({ root, out })) process.exit(0)
const started = new Date()

const work = workFolder()
const temp = tempFolder(work)
try {
  const packed = path.join(work, 'pack')
  await bundle({ root, into: packed, target, hasFaultPoints: values['fault-points'] })
  const bytes = pack({ work, temp, packed, target, node: nodeFor({ root, target, work }) })
  publish(bytes)
} finally {
  discard(work)
}

/** A folder for this run alone, so that two builds may run at once; what killed builds left is removed first. */
function workFolder() {
  const dist = path.join(root, 'dist')
  fs.mkdirSync(dist, { recursive: true })
  for (const entry of fs.readdirSync(dist)) {
    const pid = /^\.work-(\d+)$/.exec(entry)?.[1]
    if (pid && !isRunning(Number(pid))) discard(path.join(dist, entry))
  }
  const folder = path.join(dist, `.work-${process.pid}`)
  discard(folder)
  fs.mkdirSync(folder)
  return folder
}

/** Its path ends up in the executable: always of one length, and the same on every machine but for six characters. */
function tempFolder(work) {
  const folder = fs.mkdtempSync('/tmp/platform-build-')
  fs.symlinkSync(folder, path.join(work, 'temp'))
  return folder
}

function discard(work) {
  const link = path.join(work, 'temp')
  if (fs.existsSync(link)) fs.rmSync(fs.readlinkSync(link), { recursive: true, force: true })
  fs.rmSync(work, { recursive: true, force: true })
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * In one write, the file lies in the page cache in pieces of megabytes, and a process that runs it counts each piece
 * that it touches as its memory: 35 MB more than from a file that was copied or read from disk.
 */
function writeInPieces(file, bytes) {
  const handle = fs.openSync(file, 'w', 0o755)
  for (let at = 0; at < bytes.length; at += 65_536) fs.writeSync(handle, bytes, at, Math.min(65_536, bytes.length - at))
  fs.closeSync(handle)
}

/** Renamed into place, since the old file may be running; dated by the start, so that later edits count as newer. */
function publish(bytes) {
  fs.mkdirSync(path.dirname(out), { recursive: true })
  const draft = `${out}.${process.pid}`
  writeInPieces(draft, bytes)
  fs.utimesSync(draft, started, started)
  fs.renameSync(draft, out)
  const digest = createHash('sha256').update(bytes).digest('hex')
  console.error(`${path.relative(root, out)} ${(bytes.length / 1e6).toFixed(1)} MB sha256 ${digest}`)
}
