// Sites that commands of the packaged executable make once a run. A test begins with a copy: nearly every test needs a site that
// has just been made, and none tests how that was done.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Names the folder of a run; a program without this global set-up makes each of its sites. */
const variable = 'TEST_SITE_PATTERNS'

/** Global set-up of every project: the folder is there for all files of the run, and gone after the last. */
export function setup(): () => void {
  if (process.env[variable] !== undefined) return () => undefined
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'patterns-'))
  process.env[variable] = folder
  return () => {
    delete process.env[variable]
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Fills an empty folder with a copy of the pattern of this name; `make` fills the pattern where the run has none yet. */
export async function copySitePattern(
  name: string,
  into: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const pattern = findPattern(name)
  if (pattern === undefined) {
    await make(into)
    return
  }
  if (!fs.existsSync(pattern)) {
    const draft = createDraft(pattern)
    await make(draft)
    keepPattern(draft, pattern)
  }
  copyFolder(pattern, into)
}

/** The same while everything else in the test waits. */
export function copySitePatternSync(name: string, into: string, make: (folder: string) => void): void {
  const pattern = findPattern(name)
  if (pattern === undefined) {
    make(into)
    return
  }
  if (!fs.existsSync(pattern)) {
    const draft = createDraft(pattern)
    make(draft)
    keepPattern(draft, pattern)
  }
  copyFolder(pattern, into)
}

function findPattern(name: string): string | undefined {
  const patterns = process.env[variable]
  return patterns === undefined ? undefined : path.join(patterns, name)
}

function createDraft(pattern: string): string {
  return fs.mkdtempSync(path.join(path.dirname(pattern), '.draft-'))
}

/** Another file may have been faster: its pattern stays. */
function keepPattern(draft: string, pattern: string): void {
  try {
    fs.renameSync(draft, pattern)
  } catch (error) {
    if (!fs.existsSync(pattern)) throw error
    fs.rmSync(draft, { recursive: true })
  }
}

/** With the modes and owners of its folders, which the copy of Node leaves behind. */
export function copyFolder(from: string, into: string): void {
  execFileSync('cp', ['-a', `${from}/.`, into])
}
