// What a chapter needs besides its printed commands: files that an operator carries, answers at a prompt, a choice among ids.
import { copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import { repositoryRoot } from '../repository/source-tree.ts'
import type { Answers, DocumentShells } from './document-shells.ts'

/** The folder in which the shells have theirs: `<dir>/alpha`, `<dir>/bravo`. */
export type Machine = { readonly dir: string; readonly shells: DocumentShells }

export type ChapterStep = {
  /** What the operator does before the command: carries or writes a file. */
  readonly prepare?: (machine: Machine) => void | Promise<void>
  /** What the operator types at its prompts. */
  readonly answers?: Answers
  /** The command where a port of the guide is another one here, since other tests run on this machine. */
  readonly typed?: (text: string, machine: Machine) => Promise<string>
  /** Where the reader has to choose among ids: the pattern of the id in what was printed, in its first group. */
  readonly picked?: RegExp
}

export type CoveredChapter = {
  /** What the text around the commands has the operator do beforehand. */
  readonly before?: (machine: Machine) => void | Promise<void>
  /** For the next command that begins like this, once. */
  readonly steps?: readonly (readonly [command: string, step: ChapterStep])[]
}

export type CoveredChapters = Readonly<Record<string, CoveredChapter>>

export const at = ({ dir }: Machine, ...names: string[]) => path.join(dir, ...names)

/** Changes a file with an editor; each change must find its place. */
export function edit(file: string, ...changes: readonly (readonly [from: string | RegExp, to: string])[]): void {
  for (const [from, to] of changes) {
    const before = readFileSync(file, 'utf8')
    const after = before.replace(from, to)
    if (after === before) throw new Error(`${file} has no ${from}`)
    writeFileSync(file, after)
  }
}

export function carry(machine: Machine, file: string, from: string, to: string): void {
  copyFileSync(at(machine, from, file), at(machine, to, file))
}

/**
 * What became ready after the chapter that carries files: bodies first, then envelopes. A body whose envelope is not
 * there yet is still being sent.
 */
export function moveReady(machine: Machine, from: string, to: string): void {
  const ready = at(machine, from, 'site/filedrop', to, 'out/ready')
  const envelopes = readdirSync(ready).filter((file) => file.endsWith('.env.json'))
  const bodies = envelopes.map((file) => file.replace(/\.env\.json$/, '.body.json'))
  for (const file of [...bodies, ...envelopes])
    renameSync(path.join(ready, file), at(machine, to, 'site/filedrop', from, 'in/new', file))
}

/** The same, once a message is there; resolves when the other site has taken everything in. */
export async function deliverReady(machine: Machine, from: string, to: string): Promise<void> {
  const count = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.env.json')).length
  const ready = at(machine, from, 'site/filedrop', to, 'out/ready')
  await vi.waitFor(() => expect(count(ready)).toBeGreaterThan(0), { timeout: 60_000 })
  moveReady(machine, from, to)
  const arrived = at(machine, to, 'site/filedrop', from, 'in/new')
  await vi.waitFor(() => expect(count(arrived)).toBe(0), { timeout: 60_000 })
}

/** Carries what becomes ready, again and again, until the condition holds at the other site: a message may be sent late. */
export async function deliverUntil(
  machine: Machine,
  [from, to]: readonly [from: string, to: string],
  expectArrival: () => Promise<void>,
): Promise<void> {
  await vi.waitFor(
    async () => {
      moveReady(machine, from, to)
      await expectArrival()
    },
    { timeout: 60_000, interval: 500 },
  )
}

export const sample = (name: string) => readFileSync(path.join(repositoryRoot, `samples/people/${name}.csv`), 'utf8')

/** Both samples as one file: their ids differ. */
export function writePeople(file: string): void {
  writeFileSync(file, `${sample('alpha').trimEnd()}\n${sample('bravo').split('\n').slice(1).join('\n')}`)
}

/** Restarts the daemon of a shell, which reads its profile at start. */
export async function restart({ shells }: Machine, shell: string): Promise<void> {
  await shells.run(shell, 'kill %1; wait')
  await shells.run(shell, 'platform serve &')
  await vi.waitFor(async () => expect((await shells.run(shell, 'platform status')).exit).toBe(0), { timeout: 60_000 })
}
