// Runs the main workflow end to end with nothing installed: two sites that exchange only carried files resolve records and decide uncertain matches.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { offline } from '../../daemon/offline/offline.ts'
import { createCarrierLink } from '../demo/carrier-link.ts'
import { decideTogether, waitForMatchState } from '../demo/decide-together.ts'
import { type DemoSite, makeDemoSite, startDemoSite } from '../demo/demo-site.ts'
import { type DemoMatch, loadSampleKnowledge, resolveTogether, writeEntities, writePeople } from '../demo/people.ts'
import { type DemoStudio, demoOptions, performDemo } from '../demo/perform-demo.ts'
import { countMessages, fetchDissent, fetchVerifiedEvidence, summarizeSession } from '../demo/report.ts'
import type { DemoStage } from '../demo/stage.ts'
import { CommandFailure, command } from '../program/command.ts'

export const definition = command({
  words: 'demo',
  summary: 'Run two air-gapped sites that resolve records together and decide doubtful matches',
  notes: [
    'Makes two sites in DIR, runs them as daemons, and carries signed files between them. Needs no network. How one site',
    'takes files and a database in, and follows what it resolves back to their lines: `platform demo ingest`. Tools of two',
    'sites behind one edge: `platform demo gateway`.',
  ].join('\n'),
  options: demoOptions,
  example: 'platform demo --dir ./demo --keep',
  run: (params, terminal) => performDemo(params, terminal, runDemo),
})

async function runDemo({ dir, running, signal, keep, step, printLine, seconds: readSeconds }: DemoStudio) {
  step('1. Create two sites and exchange their keys')
  const [alpha, bravo] = await startBothSites(dir, running, signal, printLine)

  const links = [
    createCarrierLink(alpha.folder, 'alpha', bravo.folder, 'bravo', join(dir, 'carried', 'alpha-to-bravo')),
    createCarrierLink(bravo.folder, 'bravo', alpha.folder, 'alpha', join(dir, 'carried', 'bravo-to-alpha')),
  ]
  const stage = { home: alpha, remote: bravo, links, signal, printLine: printLine }

  step('2. Resolve the records of both sites')
  const { run, doubts } = await resolveTogether(stage)
  const { records, matches, clusters } = run.counts as Record<string, number>
  printLine(
    `${records} records, ${matches} matches, ${clusters} people whom both sites know; ${bravo.name} has the same result`,
  )

  step('3. Decide the doubtful matches together')
  const sessions = await decideAll(stage, doubts)
  const dissents = await collectDissents(alpha, sessions, printLine)

  step('4. Write the result and verify its evidence')
  const entities = join(dir, 'entities.csv')
  const people = await writeEntities(alpha, entities)
  printLine(`${entities}: ${people} people, with their records at both sites`)
  const keysText = readFileSync(`${alpha.dir}.keys.json`, 'utf8')
  for (const { evidence_block } of sessions.filter(({ state }) => state === 'RATIFIED')) {
    const files = await fetchVerifiedEvidence(dir, keysText, [alpha, bravo], String(evidence_block))
    for (const file of files) printLine(`${file}: verified with public keys alone`)
  }

  const filedrop = { alpha: await countMessages(alpha), bravo: await countMessages(bravo) }
  for (const [name, counts] of Object.entries(filedrop)) {
    printLine(
      `${name}: ${counts.sent} messages sent, ${counts.received} received, ${counts.duplicates} duplicates, ${counts.quarantined} quarantined`,
    )
  }
  const seconds = readSeconds()
  step(`Done in ${seconds} s`)
  for (const line of keep ? listNextSteps(dir) : ['temporary files removed; --keep keeps them']) printLine(line)
  const resolution = { run_id: run.uid, records, matches, people, entities }
  return { resolution, sessions, dissents, filedrop, seconds }
}

/** All contributors agree about the first doubtful matches; about the last one, the other site disagrees. */
async function decideAll(stage: DemoStage, doubts: readonly DemoMatch[]) {
  const { isOne, describe } = await loadSampleKnowledge()
  const sessions: ReturnType<typeof summarizeSession>[] = []
  for (const [index, match] of doubts.entries()) {
    for (const ref of [match.left, match.right]) stage.printLine(describe(ref))
    const isDisputed = index === doubts.length - 1
    const scoreFor = (percent: number, isMatch = isOne(match)) => (isMatch ? percent : 100 - percent) / 100
    const bob = isDisputed ? scoreFor(95, !isOne(match)) : scoreFor(92)
    const { home, remote } = await decideTogether(stage, match, { alice: scoreFor(94), carol: scoreFor(90), bob })
    const session = summarizeSession(home)
    const outcome = session.decision === null ? '' : `: ${session.decision}, score ${session.score?.toFixed(4)}`
    stage.printLine(`${session.state} at ${stage.home.name}, ${remote.state} at ${stage.remote.name}${outcome}`)
    if (session.state !== (isDisputed ? 'IN_CONFLICT' : 'RATIFIED'))
      throw new CommandFailure(
        1,
        `session ${session.id} ended ${session.state}; the demo expects ${isDisputed ? 'IN_CONFLICT' : 'RATIFIED'}`,
        'run the demo with --keep and read the logs of both sites in its folder',
      )
    if (!isDisputed) await waitForMatchState(stage, match, isOne(match) ? 'confirmed' : 'rejected')
    sessions.push(session)
  }
  return sessions
}

async function collectDissents(
  site: DemoSite,
  sessions: readonly ReturnType<typeof summarizeSession>[],
  printLine: DemoStage['printLine'],
) {
  const dissents: Record<string, unknown>[] = []
  for (const session of sessions.filter((candidate) => candidate.state === 'IN_CONFLICT')) {
    const { text: explanation, record } = await fetchDissent(site, String(session.id))
    printLine('explanation of the conflict:')
    for (const line of explanation.trimEnd().split('\n')) printLine(`| ${line}`)
    const { id, session_id, reason, score, conflict, status } = record
    dissents.push({ id, session_id, reason, score, conflict, status, explanation })
  }
  return dissents
}

/** Folder with one subfolder for each tenant; a daemon reads only that of its own tenant. */
function resolveRecordsFolder(dir: string): string {
  return join(dir, 'records')
}

async function startBothSites(
  dir: string,
  running: DemoStudio['running'],
  signal: AbortSignal,
  printLine: (line: string) => void,
): Promise<[DemoSite, DemoSite]> {
  const siteDir = (name: string) => join(dir, name)
  for (const name of ['alpha', 'bravo']) await makeDemoSite(siteDir(name), name)
  for (const name of ['alpha', 'bravo'] as const) await writePeople(name, resolveRecordsFolder(dir))
  await pinPeer(dir, 'alpha', 'bravo', printLine)
  await pinPeer(dir, 'bravo', 'alpha', printLine)
  const roles = ['site', 'consensus', 'resolution']
  const daemon = { roles, env: { RESOLUTION_DATA_FOLDER: resolveRecordsFolder(dir) } }
  const alpha = await startDemoSite(siteDir('alpha'), 'alpha', daemon, signal)
  running.push(alpha)
  const bravo = await startDemoSite(siteDir('bravo'), 'bravo', daemon, signal)
  running.push(bravo)
  printLine('both daemons run; they share no network, only signed files that are carried one way at a time')
  return [alpha, bravo]
}

/** Enrols `peer` at `site` from its exported keys. At real sites, two people compare the fingerprints. */
async function pinPeer(dir: string, site: string, peer: string, printLine: (line: string) => void): Promise<void> {
  const { addPeer, readPinnableKeys } = await offline.peers()
  const { keys } = await readPinnableKeys(readFileSync(join(dir, `${peer}.keys.json`), 'utf8'))
  await addPeer(
    offline.siteFolder(join(dir, site)),
    {},
    {
      name: peer,
      tenant_id: peer,
      keys,
      ceiling_level: 'SECRET',
      now: Date.now(),
    },
  )
  const message = keys.find((key) => key.use === 'message')
  printLine(`${site} pins the key of ${peer}: ${message?.fingerprint}`)
}

function listNextSteps(dir: string): string[] {
  const platform = offline
    .selfCommand()
    .map((word) => relative(process.cwd(), word))
    .map((word) => (word.includes('/') ? word : `./${word}`))
    .join(' ')
  const carried = join(dir, 'carried', 'alpha-to-bravo')
  const first = readdirSync(carried).find((name) => name.endsWith('.env.json')) ?? ''
  const evidence = readdirSync(dir).find((name) => name.startsWith('evidence-')) ?? ''
  return [
    `everything is in ${dir}; to verify it again:`,
    `${platform} evidence verify ${join(dir, evidence)} --keys ${join(dir, 'alpha.keys.json')}`,
    `${platform} filedrop verify ${join(carried, first)} --keys ${join(dir, 'alpha.keys.json')}`,
    `${platform} audit verify --site ${join(dir, 'alpha')}`,
    `${platform} serve --site ${join(dir, 'alpha')}`,
  ]
}
