// Chapters of the operator guide about channels: losses, networks, hubs, and messages that a site refuses.
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { vi } from 'vitest'
import { at, type CoveredChapters, carry, type Machine, moveReady } from '../chapter.ts'
import { spokenBy } from './first-site.ts'

const patience = { timeout: 60_000, interval: 250 }

const readyFolder = (machine: Machine) => at(machine, 'alpha/site/filedrop/bravo/out/ready')

/** Alpha invites bravo to one more session; resolves once its message is ready. */
async function inviteBravo(machine: Machine): Promise<void> {
  const command = [
    'platform consensus create --lens vessel-identity --lens-version 1 --m 3 --n 3 --kind entity_match',
    '--left vessel/a --right vessel/b --classification RESTRICTED --releasable-to acme,bravo --invite bravo',
  ]
  const { exit, output } = await machine.shells.run('alpha', command.join(' '))
  if (exit !== 0) throw new Error(output)
  await vi.waitFor(() => {
    if (!readdirSync(readyFolder(machine)).some((file) => file.endsWith('.env.json')))
      throw new Error('nothing is ready')
  }, patience)
}

/** A message of alpha that bravo, with its ceiling lowered meanwhile, refuses as LABEL_DENIED. */
async function haveMessageRefused(machine: Machine): Promise<void> {
  await machine.shells.run('bravo', 'platform peers set alpha --ceiling UNCLASSIFIED')
  await inviteBravo(machine)
  moveReady(machine, 'alpha', 'bravo')
  await vi.waitFor(async () => {
    const { output } = await machine.shells.run('bravo', 'platform filedrop quarantine list')
    if (!output.includes('LABEL_DENIED')) throw new Error(output)
  }, patience)
  await machine.shells.run('bravo', 'platform peers set alpha --ceiling RESTRICTED')
}

/** The same for ben, as the guide has it. */
async function enrolBen({ shells }: Machine): Promise<void> {
  await shells.type('ben', 'platform keys generate --use personal --dir ben-medium')
  await shells.run('ben', 'platform keys export --dir ben-medium --out ben.json')
  const answers = spokenBy('ben', ' --dir ben-medium')
  await shells.type('bravo', 'platform people add ben ben.json', { answers })
  const mint = 'platform token mint --subject ben --roles operator --clearance RESTRICTED --ttl 8h > ben.token'
  await shells.run('bravo', mint)
}

export const channelChapters: CoveredChapters = {
  'Resend missing messages': {
    async before(machine) {
      await inviteBravo(machine)
      for (const file of readdirSync(readyFolder(machine)))
        if (file.endsWith('.json')) rmSync(path.join(readyFolder(machine), file))
      await inviteBravo(machine)
      moveReady(machine, 'alpha', 'bravo')
    },
  },
  'Messages that wait': {},
  'Send over a network with certificates': {
    steps: [
      [
        'platform keys ca show bravo-ca.pem',
        { prepare: (machine) => carry(machine, 'bravo-ca.pem', 'bravo', 'alpha') },
      ],
      [
        'platform keys ca show alpha-ca.pem',
        { prepare: (machine) => carry(machine, 'alpha-ca.pem', 'alpha', 'bravo') },
      ],
      [
        'platform keys cert issue alpha-request.pem',
        { prepare: (machine) => carry(machine, 'alpha-request.pem', 'alpha', 'vault'), answers: () => ['y'] },
      ],
      [
        'platform keys cert install alpha-cert.pem',
        { prepare: (machine) => carry(machine, 'alpha-cert.pem', 'vault', 'alpha') },
      ],
    ],
  },
  Monitor: {
    before: (machine) => moveReady(machine, 'bravo', 'alpha'),
    steps: [['platform consensus get', { picked: /^(ses_\w+) +IN_CONFLICT/m }]],
  },
  Quarantine: {},
  'Release by two people': {
    before: haveMessageRefused,
    steps: [
      ['platform people add ann', { answers: spokenBy('ann', ' --dir ann-medium') }],
      ['platform filedrop quarantine request', { prepare: enrolBen, picked: /^(alpha\/\d\S+)/m }],
    ],
  },
  'Dismiss what nobody will release': {
    before: haveMessageRefused,
    steps: [
      ['platform filedrop quarantine dismiss', { picked: /^(alpha\/stranger\S+)/m }],
      ['platform filedrop quarantine dismiss', { picked: /^(alpha\/\d\S+)/m }],
    ],
  },
  'Purge a spillage': {},
}
