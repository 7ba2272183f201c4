// Commands before a person: they wait for answers to questions, show colours, and NO_COLOR removes them.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { requires } from '../support/runner/requires.ts'

const { dir, remove } = createScratchFolder('terminal')
const alpha = path.join(dir, 'alpha')
const keys = path.join(dir, 'bravo.json')
const program = `${path.join(repositoryRoot, 'node_modules/.bin/node')} ${path.join(repositoryRoot, 'cli/main.ts')}`
const addPeerCommand = `peers add bravo --keys ${keys} --tenant bravo --ceiling SECRET --site ${alpha}`

beforeAll(async () => {
  await runJsonCommand(['init', '--site', alpha, '--profile', 'demo'])
  await runJsonCommand(['init', '--site', path.join(dir, 'bravo'), '--profile', 'demo'])
  await runCommand(['keys', 'export', '--site', path.join(dir, 'bravo'), '--out', keys])
})
afterAll(remove)

/** Types the words on a terminal of their own, and the answer once a question stands there. */
function answerOnTerminal(words: string, answer: string, env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qec', `${program} ${words}`, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm', ...env },
  })
  let screen = ''
  let hasAnswered = false
  child.stdout.on('data', (part: Buffer) => {
    screen += part.toString()
    if (hasAnswered || !/\[[yY]\/[nN]\] |reads aloud \(there: [^)]*\): /.test(screen)) return
    hasAnswered = true
    child.stdin.write(`${answer}\n`)
  })
  return new Promise<{ exit: number | null; screen: string }>((resolve) => {
    child.once('close', (exit) => resolve({ exit, screen }))
  })
}

const onTerminal = requires('script')

onTerminal('a peer is pinned only when a person types the fingerprint that the other site reads aloud', async () => {
  const { fingerprint } = await runJsonCommand(['keys', 'speak', '--site', path.join(dir, 'bravo')])
  expect((await answerOnTerminal(addPeerCommand, '')).exit).toBe(3)
  expect((await runJsonCommand(['peers', 'list', '--site', alpha])).items).toEqual([])
  const yes = await answerOnTerminal(addPeerCommand, fingerprint)
  expect([yes.exit, yes.screen.includes('would be pinned with these keys')]).toEqual([0, true])
  expect((await runJsonCommand(['peers', 'list', '--site', alpha])).items).toHaveLength(1)
})

onTerminal('init asks, and makes nothing after a no', async () => {
  const refused = await answerOnTerminal(`init --site ${path.join(dir, 'refused')}`, 'n')
  expect([refused.exit, refused.screen.includes('nothing was created')]).toEqual([3, true])
})

onTerminal('colours are there for a person, and not with NO_COLOR', async () => {
  expect((await answerOnTerminal(`doctor --site ${alpha}`, '')).screen).toContain('\u001b[32mok')
  expect((await answerOnTerminal(`doctor --site ${alpha}`, '', { NO_COLOR: '1' })).screen).not.toContain('\u001b[32m')
})

test('without a terminal nothing waits for an answer', async () => {
  const ended = await runCommand(['keys', 'revoke', 'message-none', '--site', alpha])
  expect(ended.exit).toBe(1)
  const { items } = await runJsonCommand(['keys', 'list', '--site', alpha])
  expect((await runCommand(['keys', 'revoke', items[0].kid, '--site', alpha])).stderr).toContain('--yes')
})
