// Types the commands of README.md and of the operator guide as they are printed, in order, in the folders of a scratch machine.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createScratchFolder } from '../../support/command/run-command.ts'
import { coveredChapters } from '../../support/documents/covered-chapters.ts'
import { DocumentShells } from '../../support/documents/document-shells.ts'
import { readCommands } from '../../support/documents/read-commands.ts'

/** Commands that fail until what crossed has been taken in, or the daemon answers. */
const waits = /^(dist\/)?platform (status|consensus (contribute|dissent)|evidence show|filedrop export)/
/** A person carries files once a message is there. */
const carries = /^mv (site\/filedrop\/\w+\/out\/ready)\//

const patience = { timeout: 60_000, interval: 500 }

/** Whether an envelope is there; its body was there before it. */
const hasMessage = (folder: string) => readdirSync(folder).some((file) => file.endsWith('.env.json'))

describe.each(Object.keys(coveredChapters))('%s', (document) => {
  const { dir, remove } = createScratchFolder('guide')
  const shells = new DocumentShells(dir)
  /** Commands without a name are typed in one shell; those of README.md in that of the site. */
  const shellOf = (name: string) => name || (document === 'README.md' ? 'alpha' : 'plain')
  const used = new Set<string>()
  afterAll(() => {
    shells.close([...used])
    remove()
  })
  const commands = readCommands(document)

  test.each(Object.entries(coveredChapters[document] ?? {}))('%s', async (heading, { before, prepare = [] }) => {
    const typed = commands.get(heading) ?? []
    expect(typed.length).toBeGreaterThan(0)
    for (const { shell } of typed) {
      used.add(shellOf(shell))
      shells.open(shellOf(shell))
    }
    before?.({ dir })
    const pending = [...prepare]
    for (const { shell, text } of typed) {
      const next = pending.findIndex(([command]) => text.startsWith(command))
      if (next >= 0) pending.splice(next, 1)[0]?.[1]({ dir })
      const type = async () => {
        const { exit, output } = await shells.type(shellOf(shell), text)
        expect(exit, `${path.basename(shellOf(shell))}$ ${text}\n${output}`).toBe(0)
      }
      const [, ready] = carries.exec(text) ?? []
      if (ready) await vi.waitFor(() => expect(hasMessage(path.join(dir, shellOf(shell), ready))).toBe(true), patience)
      if (waits.test(text)) await vi.waitFor(type, patience)
      else await type()
    }
    expect(pending.map(([command]) => command)).toEqual([])
  })
})
