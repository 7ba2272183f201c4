// Answers whether an executable is as new as all that it is built from, so that running twice builds once.
import fs from 'node:fs'
import path from 'node:path'

const inputs = [
  'adapters',
  'cli',
  'daemon',
  'lenses',
  'profiles',
  'samples',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** Folders count too: their time is the only trace of a file that was removed. */
export function isFresh({ root, out }) {
  if (!fs.existsSync(out)) return false
  const built = fs.statSync(out).mtimeMs
  return inputs.every((input) => newest(path.join(root, input)) <= built)
}

function newest(file) {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  if (!found) return 0
  if (!found.isDirectory()) return /\.test\.tsx?$/.test(file) ? 0 : found.mtimeMs
  return Math.max(found.mtimeMs, ...fs.readdirSync(file).map((name) => newest(path.join(file, name))))
}
