// What happens before a person: questions are asked and heeded, colours appear, and NO_COLOR takes them away.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answered, platform, scratch } from '../support/command-line.ts'
import { requires } from '../support/requires.ts'
import { root } from '../support/source-tree.ts'

const { dir, remove } = scratch('terminal')
const alpha = path.join(dir, 'alpha')
const keys = path.join(dir, 'bravo.json')
const program = `${path.join(root, 'node_modules/.bin/node')} ${path.join(root, 'cli/main.ts')}`
const add = `peers add bravo --keys ${keys} --tenant bravo --ceiling SECRET --site ${alpha}`

beforeAll(async () => {
  await answered(['init', '--site', alpha, '--profile', 'demo'])
  await answered(['init', '--site', path.join(dir, 'bravo'), '--profile', 'demo'])
  await platform(['keys', 'export', '--site', path.join(dir, 'bravo'), '--out', keys])
})
afterAll(remove)

/** Types the words on a terminal of their own, and the answer once a question stands there. */
function before(words: string, answer: string, env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qec', `${program} ${words}`, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm', ...env },
  })
  let screen = ''
  let hasAnswered = false
  child.stdout.on('data', (part: Buffer) => {
    screen += part.toString()
    if (hasAnswered || !/\[[yY]\/[nN]\] /.test(screen)) return
    hasAnswered = true
    child.stdin.write(`${answer}\n`)
  })
  return new Promise<{ exit: number | null; screen: string }>((resolve) => {
    child.once('close', (exit) => resolve({ exit, screen }))
  })
}

const onTerminal = requires('script')

onTerminal('a peer is pinned only when a person says that the fingerprints are right', async () => {
  expect((await before(add, 'n')).exit).toBe(3)
  expect((await before(add, '')).exit).toBe(3)
  expect((await answered(['peers', 'list', '--site', alpha])).items).toEqual([])
  const yes = await before(add, 'y')
  expect([yes.exit, yes.screen.includes('would be pinned by')]).toEqual([0, true])
  expect((await answered(['peers', 'list', '--site', alpha])).items).toHaveLength(1)
})

onTerminal('init asks, and makes nothing after a no', async () => {
  const refused = await before(`init --site ${path.join(dir, 'asked')}`, 'n')
  expect([refused.exit, refused.screen.includes('nothing was made')]).toEqual([3, true])
})

onTerminal('colours are there for a person, and not with NO_COLOR', async () => {
  expect((await before(`doctor --site ${alpha}`, '')).screen).toContain('\u001b[32mok')
  expect((await before(`doctor --site ${alpha}`, '', { NO_COLOR: '1' })).screen).not.toContain('\u001b[32m')
})

test('without a terminal nothing waits for an answer', async () => {
  const ended = await platform(['keys', 'revoke', 'message-none', '--site', alpha])
  expect(ended.exit).toBe(1)
  const { items } = await answered(['keys', 'list', '--site', alpha])
  expect((await platform(['keys', 'revoke', items[0].kid, '--site', alpha])).stderr).toContain('--yes')
})
