// The terminal screens of the packaged executable over a running site, seen and driven in a terminal.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findExecutable } from '../support/command/run-executable.ts'
import { requires } from '../support/runner/requires.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { openTmuxScreen, type TmuxScreen } from './tmux-screen.ts'

const inTerminal = requires('tmux')
let site: PackagedSite
let served: ServedSite
let conflict: string
let open: string
let screen: TmuxScreen | undefined

beforeAll(async () => {
  site = createPackagedSite('demo')
  pinPeer()
  served = await site.serve()
  const analyst = {
    PLATFORM_TOKEN: runJsonCommand('token', 'mint', '--subject', 'demo', '--roles', 'analyst', '--json').token,
  }
  const create = (lens: string) => {
    const words = ['consensus', 'create', '--lens', lens, '--lens-version', '1', '--m', '2', '--n', '2', '--json']
    return String(JSON.parse(runCommand([...words, '--classification', 'UNCLASSIFIED'], analyst)).id)
  }
  conflict = create('person')
  for (const [who, score] of Object.entries({ alice: '0.95', bob: '0.05' })) {
    const words = ['consensus', 'contribute', conflict, '--contributor', who, '--key', `${who}-1`, '--score', score]
    runCommand([...words, '--accuracy', '0.9', '--credibility', '0.9', '--classification', 'UNCLASSIFIED'], analyst)
  }
  open = create('a\u001b[2Jb')
})
afterEach(() => {
  screen?.close()
  screen = undefined
})
afterAll(async () => {
  await served?.stop()
  site?.remove()
})

function runCommand(words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const { exit, stdout, stderr } = site.run(words, env)
  expect({ words, exit, stderr }).toMatchObject({ exit: 0 })
  return stdout
}

const runJsonCommand = (...words: string[]) => JSON.parse(runCommand(words))

/** Another site's keys, pinned by their fingerprints; the other site never runs. */
function pinPeer(): void {
  const bravo = createPackagedSite('demo', 'bravo')
  try {
    const file = path.join(bravo.dir, 'bravo.json')
    const { stdout } = bravo.run(['keys', 'export', '--json'])
    writeFileSync(file, stdout)
    const keys = JSON.parse(stdout).keys as { platform_use: string; platform_fingerprint: string }[]
    const pinned = keys.filter((key) => key.platform_use !== 'token').map((key) => key.platform_fingerprint)
    const words = ['peers', 'add', 'bravo', '--keys', file, '--tenant', 'bravo', '--ceiling', 'UNCLASSIFIED']
    runCommand([...words, `--fingerprint=${pinned.join(',')}`])
  } finally {
    bravo.remove()
  }
}

/** Types the command in a terminal of its own; reports its end only when the terminal has its earlier modes again. */
async function openScreen(env: Readonly<Record<string, string>> = {}): Promise<TmuxScreen> {
  const made = openTmuxScreen({ ...env, PLATFORM: findExecutable(), PLATFORM_SITE: site.dir })
  screen = made
  made.type('echo before; m=$(stty -g); "$PLATFORM" admin; e=$?; [ "$m" = "$(stty -g)" ] && echo "ended:$e"')
  await made.waitFor(/q quit/)
  return made
}

inTerminal('shows roles, sessions and channels, and leaves the terminal as it was', async () => {
  const made = await openScreen()
  const all = await made.waitFor(/bravo +out +open/)
  expect(all).toMatch(/site +ok +ok: store/)
  expect(all).toMatch(/consensus +ok +ok: store/)
  expect(all).toMatch(new RegExp(`${conflict.slice(0, 12)}\\S* +IN_CONFLICT .* 2/2 m2`))
  expect(all).toMatch(new RegExp(`> ${open.slice(0, 12)}\\S* +PROPOSED`))
  expect(all).toMatch(/bravo +in +open/)
  expect(made.state().isAlternate).toBe(true)
  made.press('q')
  const after = await made.waitFor(/ended:0$/m)
  expect(after).toContain('before')
  expect(made.state()).toEqual({ isAlternate: false, hasCursor: true })
})

inTerminal('keys choose, open, explain and go back', async () => {
  const made = await openScreen()
  await made.waitFor(/IN_CONFLICT/)
  made.press('4')
  await made.waitFor(/SESSIONS IN_CONFLICT \(1\)/)
  made.press('Enter')
  const detail = await made.waitFor(/^why +\S/m)
  expect(detail).toContain(conflict)
  expect(detail).toMatch(/^history +.*PROPOSED/m)
  made.press('NPage', 'NPage')
  await made.waitFor(/alice/)
  made.press('Escape')
  await made.waitFor(/CHANNELS \(2\)/)
  made.press('0', 'j', 'Tab')
  await made.waitFor(/▌CHANNELS/)
  expect(made.text()).toMatch(new RegExp(`> ${conflict.slice(0, 12)}`))
  made.press('?')
  await made.waitFor(/^KEYS/m)
  expect(made.text()).toMatch(/^5 +only WITHDRAWN/m)
  made.press('q')
  await made.waitFor(/ended:0$/m)
})

inTerminal('what others wrote cannot move the cursor', async () => {
  const made = await openScreen()
  expect(await made.waitFor(/PROPOSED/)).toContain('a\\u001b')
  made.press('Enter')
  await made.waitFor(/lens +a\\u001b\[2Jb 1/)
})

inTerminal('shows a change without a key press; reports in place a role that goes away, and its return', async () => {
  const made = await openScreen()
  await made.waitFor(/consensus +ok/)
  runCommand(['consensus', 'cancel', open])
  await made.waitFor(new RegExp(`${open.slice(0, 12)}\\S* +WITHDRAWN`))
  await served.stop()
  const gone = await made.waitFor(/consensus +not running/)
  expect(gone).toMatch(/SESSIONS all \(0\)/)
  expect(await made.waitFor(/the role consensus does not answer/)).toMatch(/the role site does not answer/)
  served = await site.serve()
  await made.waitFor(/consensus +ok/)
  await made.waitFor(/bravo +out +open/)
})

inTerminal('colours are there for a person, and not with NO_COLOR', async () => {
  const colour = new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*;)?[39][0-7]`)
  const painted = await openScreen()
  await painted.waitFor(/IN_CONFLICT/)
  expect(painted.styledText()).toMatch(colour)
  painted.close()
  const plain = await openScreen({ NO_COLOR: '1' })
  await plain.waitFor(/IN_CONFLICT/)
  expect(plain.styledText()).not.toMatch(colour)
})

inTerminal('a terminal of any size shows what it has room for', async () => {
  const made = await openScreen()
  await made.waitFor(/CHANNELS/)
  made.resize(60, 11)
  await made.waitUntilGone(/CHANNELS/)
  await made.waitFor(/SESSIONS/)
  made.resize(140, 40)
  await made.waitFor(/CREATED/)
  made.press('q')
  await made.waitFor(/ended:0$/m)
})

test('without a terminal it is refused, and the way out is named', () => {
  const { exit, stderr } = site.run(['admin'])
  expect(exit).toBe(2)
  expect(stderr).toContain('needs a terminal')
  expect(stderr).toContain('platform status --json')
})
