// Types the commands of README.md and of the operator guide as they are printed, in order, in the folders of a scratch machine.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createScratchFolder } from '../../support/command/run-command.ts'
import type { ChapterStep } from '../../support/documents/chapter.ts'
import { coveredChapters } from '../../support/documents/covered-chapters.ts'
import { DocumentShells } from '../../support/documents/document-shells.ts'
import { findOutputFault } from '../../support/documents/find-output-fault.ts'
import { type PrintedCommand, readCommands } from '../../support/documents/read-commands.ts'
import { expectNone } from '../../support/repository/expect-none.ts'

/** Commands that fail, or print something else, until what crossed has been taken in, or the daemon has done its work. */
const waits = [
  /^(dist\/)?platform (status|consensus (contribute|dissent|watch)|evidence show)/,
  /^platform filedrop (epoch|export|gaps|quarantine list|status)/,
  /^platform tools list/,
  /^platform resolve (add|clusters|entity|exchange agree|lookup|registry show|show|uncertain)/,
]
const isRepeated = ({ text }: PrintedCommand) => waits.some((each) => each.test(text))

/** A person carries files once a message is there. */
const carries = /^mv (site\/filedrop\/\w+\/out\/ready)\//

const patience = { timeout: 60_000, interval: 250 }

/** Whether an envelope is there; its body was there before it. */
const hasMessage = (folder: string) => readdirSync(folder).some((file) => file.endsWith('.env.json'))

describe.each(Object.keys(coveredChapters))('%s', (document) => {
  const { dir, remove } = createScratchFolder('guide')
  // Two people of bravo sit at its machine.
  const shells = new DocumentShells(dir, { ann: 'bravo', ben: 'bravo' })
  afterAll(async () => {
    await shells.close()
    remove()
  })
  /** Commands without a name are typed in one shell; those of README.md in that of the site. */
  const shellOf = ({ shell }: PrintedCommand) => shell || (document === 'README.md' ? 'alpha' : 'plain')

  /** Throws what an operator would stumble over. */
  async function type(command: PrintedCommand, { prepare, typed, ...typing }: ChapterStep): Promise<void> {
    const shell = shellOf(command)
    const machine = { dir, shells }
    if (!isRepeated(command)) await prepare?.(machine)
    const text = (await typed?.(command.text, machine)) ?? command.text
    const [, ready] = carries.exec(text) ?? []
    if (ready) await vi.waitFor(() => expect(hasMessage(path.join(shells.folderOf(shell), ready))).toBe(true), patience)
    const attempt = async () => {
      // What is to arrive may leave later.
      if (isRepeated(command)) await prepare?.(machine)
      const { exit, output } = await shells.type(shell, text, typing)
      const fault =
        exit !== 0 ? `exit ${exit}` : command.output.length > 0 ? findOutputFault(command.output, output) : undefined
      if (fault !== undefined) throw new Error(`${shell}$ ${text}\n${fault}\n${output}`)
    }
    await (isRepeated(command) ? vi.waitFor(attempt, patience) : attempt())
  }

  const covered = coveredChapters[document] ?? {}
  const chapters = [...readCommands(document)].filter(([heading]) => heading in covered)
  test.each(chapters)('%s', async (heading, commands) => {
    const { before, steps = [] } = covered[heading] ?? {}
    for (const command of commands) shells.open(shellOf(command))
    await before?.({ dir, shells })
    const pending = [...steps]
    const faults: string[] = []
    for (const command of commands) {
      const next = pending.findIndex(([prefix]) => command.text.startsWith(prefix))
      const [step] = next < 0 ? [] : pending.splice(next, 1)
      await type(command, step?.[1] ?? {}).catch((error: Error) => faults.push(error.message))
    }
    expectNone(faults)
    expect(pending.map(([prefix]) => prefix)).toEqual([])
  })
})
