// Finds the Node for the executable: that of this machine from its npm package, another fetched once and verified.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { withoutVariables } from './ignored-variables.mjs'
import { stripElf } from './strip-elf.mjs'

/** Path of a Node for the target in `work`, stripped and deaf to its variables, and its version. */
export function nodeFor({ root, target, work }) {
  const arch = target.replace('linux-', '')
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const locked = lock.packages[`node_modules/node-${target}`]
  const binary = arch === process.arch ? process.execPath : fetchNode({ root, target, locked })
  const stripped = path.join(work, 'node')
  fs.writeFileSync(stripped, withoutVariables(stripElf(fs.readFileSync(binary))), { mode: 0o755 })
  return { file: stripped, version: locked.version }
}

/** Fetches the package of another architecture, which npm does not install, into a cache. */
function fetchNode({ root, target, locked }) {
  const cache = path.join(root, 'node_modules/.cache', `node-${target}-${locked.version}`)
  const binary = path.join(cache, 'package/bin/node')
  if (fs.existsSync(binary)) return binary
  const draft = `${cache}.${process.pid}`
  fs.mkdirSync(draft, { recursive: true })
  try {
    run('npm', ['pack', '--silent', `node-${target}@${locked.version}`, '--pack-destination', draft], root)
    const tarball = path.join(draft, `node-${target}-${locked.version}.tgz`)
    const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(tarball)).digest('base64')}`
    if (integrity !== locked.integrity) throw new Error(`node-${target} does not match its digest in package-lock.json`)
    run('tar', ['-xzf', tarball, '-C', draft, 'package/bin/node', 'package/LICENSE'], root)
    fs.rmSync(tarball)
    fs.rmSync(cache, { recursive: true, force: true })
    fs.renameSync(draft, cache)
  } finally {
    fs.rmSync(draft, { recursive: true, force: true })
  }
  return binary
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? status}`)
}
