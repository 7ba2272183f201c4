// Builds one executable from the sources: bundles, strips Node, packs, and makes the result reproducible.
// For releases, --addon is the SQLite addon to pack, and --inputs the file to write the list of bundled files to.
// With --fault-points the executable is for tests: it ends itself at the step that PLATFORM_FAULT_POINT names.
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
    addon: { type: 'string' },
    inputs: { type: 'string' },
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
const startTime = new Date()

const work = workFolder()
const temp = tempFolder(work)
try {
  const packed = path.join(work, 'pack')
  const options = { hasFaultPoints: values['fault-points'], addonFile: values.addon }
  const inputs = await bundle({ root, into: packed, target, ...options })
  if (values.inputs) fs.writeFileSync(values.inputs, `${inputs.join('\n')}\n`)
  const bytes = pack({ work, temp, packed, target, node: nodeFor({ root, target, work }) })
  publish(bytes)
} finally {
  discard(work)
}

/** Creates a folder for this run, so that two builds may run at once. Removes the folders of killed builds first. */
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

/** Creates a temporary folder whose path, which the executable contains, differs between builds only in six characters. */
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
 * Writes a file in small chunks. After one large write, the page cache holds the file in folios of megabytes, and a process
 * that runs it counts every folio that it touches as its memory: 35 MB more than for a file read from disk.
 */
function writeInChunks(file, bytes) {
  const chunk_bytes = 65_536
  const handle = fs.openSync(file, 'w', 0o755)
  for (let offset = 0; offset < bytes.length; offset += chunk_bytes) {
    fs.writeSync(handle, bytes, offset, Math.min(chunk_bytes, bytes.length - offset))
  }
  fs.closeSync(handle)
}

/** Renames the file into place, since the old one may be running. Dates it by the start, so that later edits are newer. */
function publish(bytes) {
  fs.mkdirSync(path.dirname(out), { recursive: true })
  const draft = `${out}.${process.pid}`
  writeInChunks(draft, bytes)
  fs.utimesSync(draft, startTime, startTime)
  fs.renameSync(draft, out)
  const digest = createHash('sha256').update(bytes).digest('hex')
  console.error(`${path.relative(root, out)} ${(bytes.length / 1e6).toFixed(1)} MB sha256 ${digest}`)
}
