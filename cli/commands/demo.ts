// The main job end to end, with nothing installed: two sites that share only carried files decide two questions.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { offline } from '../../daemon/boot/offline.ts'
import { command, Failure } from '../command.ts'
import { link } from '../demo/carrier.ts'
import { type DemoSite, makeDemoSite, startDemoSite } from '../demo/demo-site.ts'
import { countsOf, dissentOf, inShort, verifiedEvidence } from '../demo/report.ts'
import { selfCommand } from '../demo/self.ts'
import { decideTogether } from '../demo/story.ts'
import { paint } from '../output.ts'
import { flag, otherwise, text, whole } from '../params.ts'
import { jsonOption } from '../site.ts'
import type { Terminal } from '../terminal.ts'

export const definition = command({
  words: 'demo',
  summary: 'two air-gapped sites ratify a consensus by file-drop, and explain a conflict',
  notes: 'Makes two sites in DIR, runs them as daemons, and carries signed files between them. Needs no network.',
  options: {
    dir: text('DIR', 'a new or empty folder for both sites; else a temporary one'),
    keep: flag('leave everything in DIR for inspection'),
    timeout: otherwise(120, whole('SECONDS', 'longest that the demo may take', 5, 3_600)),
    ...jsonOption,
  },
  example: 'platform demo --dir ./demo --keep',
  async run(given, terminal) {
    const dir = demoFolder(given.dir)
    const stopping = new AbortController()
    const sites: DemoSite[] = []
    const interrupt = () => stopping.abort()
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    const timer = setTimeout(interrupt, given.timeout * 1_000)
    const stop = () => Promise.all(sites.splice(0).map((site) => site.stop()))
    try {
      const report = await play(dir, sites, stopping.signal, given.keep, given.json ? silent(terminal) : terminal)
      await stop()
      if (given.json) terminal.print(JSON.stringify(report))
      return 0
    } finally {
      await stop()
      clearTimeout(timer)
      if (!given.keep) rmSync(dir, { recursive: true, force: true })
    }
  },
})

/** Steps go to stderr when stdout is for a script. */
function silent(terminal: Terminal): Terminal {
  return { ...terminal, print: terminal.note }
}

function demoFolder(asked: string | undefined): string {
  if (asked === undefined) return mkdtempSync(join(tmpdir(), 'platform-demo-'))
  const dir = resolve(asked)
  if (existsSync(dir) && readdirSync(dir).length > 0) throw new Failure(3, `${dir} is not empty`, 'name a new folder')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return dir
}

async function play(dir: string, sites: DemoSite[], signal: AbortSignal, keep: boolean, terminal: Terminal) {
  const began = performance.now()
  const step = (title: string) => terminal.print(`\n${paint(terminal, 'bold', title)}`)
  const say = (line: string) => terminal.print(`  ${line}`)

  step('1. Two sites, and their keys exchanged')
  const [alpha, bravo] = await bothSites(dir, sites, signal, say)

  const links = [
    link(alpha.folder, 'alpha', bravo.folder, 'bravo', join(dir, 'carried', 'alpha-to-bravo')),
    link(bravo.folder, 'bravo', alpha.folder, 'alpha', join(dir, 'carried', 'bravo-to-alpha')),
  ]
  const stage = { home: alpha, guest: bravo, links, signal, say }

  step('2. A question that both sites agree on')
  const agreed = await decideTogether(stage, 'vessel/MV-Aurora', 'vessel/IMO-9074729', {
    alice: 0.94,
    carol: 0.9,
    bob: 0.92,
  })
  const ratified = inShort(agreed.home)
  say(
    `${ratified.state} at ${alpha.name}, ${agreed.guest.state} at ${bravo.name}: ${ratified.decision}, score ${ratified.score?.toFixed(4)}`,
  )

  step('3. A question on which they differ')
  const differed = await decideTogether(stage, 'vessel/MV-Borealis', 'vessel/IMO-9389821', {
    alice: 0.95,
    carol: 0.9,
    bob: 0.05,
  })
  const clashed = inShort(differed.home)
  const dissent = await dissentOf(alpha, String(clashed.id))
  say(`${clashed.state} at ${alpha.name}, ${differed.guest.state} at ${bravo.name}; the record explains itself:`)
  for (const line of dissent.text.trimEnd().split('\n')) say(`| ${line}`)

  step('4. The evidence, verified with nothing but public keys')
  if (ratified.state !== 'RATIFIED' || clashed.state !== 'IN_CONFLICT')
    throw new Failure(1, 'the sessions did not end as they should')
  const keysText = readFileSync(`${alpha.dir}.keys.json`, 'utf8')
  for (const file of await verifiedEvidence(dir, keysText, [alpha, bravo], String(ratified.evidence_block)))
    say(`${file} holds`)

  const filedrop = { alpha: await countsOf(alpha), bravo: await countsOf(bravo) }
  for (const [name, counts] of Object.entries(filedrop)) {
    say(
      `${name}: ${counts.sent} messages sent, ${counts.received} received, ${counts.duplicates} twice, ${counts.quarantined} refused`,
    )
  }
  const seconds = Math.round(performance.now() - began) / 1_000
  step(`Done in ${seconds} s`)
  for (const line of keep ? nextSteps(dir) : ['everything made for it is removed again; --keep leaves it']) say(line)
  const { id, session_id, reason, score, conflict, status } = dissent.record
  return {
    sessions: [ratified, clashed],
    dissents: [{ id, session_id, reason, score, conflict, status, explanation: dissent.text }],
    filedrop,
    seconds,
  }
}

async function bothSites(
  dir: string,
  sites: DemoSite[],
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<[DemoSite, DemoSite]> {
  const at = (name: string) => join(dir, name)
  for (const name of ['alpha', 'bravo']) await makeDemoSite(at(name), name)
  await pin(dir, 'alpha', 'bravo', say)
  await pin(dir, 'bravo', 'alpha', say)
  const alpha = await startDemoSite(at('alpha'), 'alpha', signal)
  sites.push(alpha)
  const bravo = await startDemoSite(at('bravo'), 'bravo', signal)
  sites.push(bravo)
  say('both daemons run; they share no network, only files that are carried one way at a time')
  return [alpha, bravo]
}

/** Enrols `peer` at `site` from its exported keys: at real sites two people compare the fingerprints. */
async function pin(dir: string, site: string, peer: string, say: (line: string) => void): Promise<void> {
  const { add, pinnable } = await offline.peers()
  const { keys } = await pinnable(readFileSync(join(dir, `${peer}.keys.json`), 'utf8'))
  await add(
    offline.siteFolder(join(dir, site)),
    {},
    {
      name: peer,
      tenant_id: peer,
      keys,
      ceiling: { level: 'SECRET', categories: [] },
      releasable_names: [],
      threshold: undefined,
      not_after_days: undefined,
      inventory_interval_s: undefined,
      now: Date.now(),
    },
  )
  const message = keys.find((key) => key.use === 'message')
  say(`${site} pins the key of ${peer}: ${message?.fingerprint}`)
}

function nextSteps(dir: string): string[] {
  const platform = selfCommand()
    .map((word) => relative(process.cwd(), word))
    .map((word) => (word.includes('/') ? word : `./${word}`))
    .join(' ')
  const carried = join(dir, 'carried', 'alpha-to-bravo')
  const first = readdirSync(carried).find((name) => name.endsWith('.env.json')) ?? ''
  return [
    `everything is in ${dir}; to look again:`,
    `${platform} evidence verify ${join(dir, 'evidence-at-bravo.json')} --keys ${join(dir, 'alpha.keys.json')}`,
    `${platform} filedrop verify ${join(carried, first)} --keys ${join(dir, 'alpha.keys.json')}`,
    `${platform} audit verify --site ${join(dir, 'alpha')}`,
    `${platform} serve --site ${join(dir, 'alpha')}`,
  ]
}
