// Which chapters of README.md and the operator guide are run as they are printed, and why the others are not.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'

/** The folder in which the shells have theirs: `<dir>/alpha`, `<dir>/bravo`. */
export type Machine = { readonly dir: string }

export type CoveredChapter = {
  /** What the text around the commands has the operator do beforehand. */
  readonly before?: (machine: Machine) => void
  /** Before the command that begins like this: a file that the operator carries or writes. */
  readonly prepare?: readonly (readonly [command: string, prepare: (machine: Machine) => void])[]
}

const at = ({ dir }: Machine, ...names: string[]) => path.join(dir, ...names)

function edit(file: string, ...changes: readonly (readonly [from: string | RegExp, to: string])[]): void {
  const before = readFileSync(file, 'utf8')
  const after = changes.reduce((text, [from, to]) => text.replace(from, to), before)
  if (after === before) throw new Error(`${file} has nothing to change`)
  writeFileSync(file, after)
}

function carry(machine: Machine, file: string, from: string, to: string): void {
  copyFileSync(at(machine, from, file), at(machine, to, file))
}

/** What became ready after the chapter that carries files: bodies first, then envelopes. */
function moveReady(machine: Machine, [from, to]: readonly [from: string, to: string]): void {
  const ready = at(machine, from, 'site/filedrop', to, 'out/ready')
  const files = readdirSync(ready).filter((file) => file.endsWith('.json'))
  for (const kind of ['.body.json', '.env.json']) {
    for (const file of files.filter((name) => name.endsWith(kind)))
      renameSync(path.join(ready, file), at(machine, to, 'site/filedrop', from, 'in/new', file))
  }
}

const sample = (name: string) => readFileSync(path.join(repositoryRoot, `samples/people/${name}.csv`), 'utf8')

/** Both samples as one file: their ids differ. */
function writePeople(file: string): void {
  writeFileSync(file, `${sample('alpha').trimEnd()}\n${sample('bravo').split('\n').slice(1).join('\n')}`)
}

const contributors = (text: string) => `consensus:\n  contributors:\n${text}`

export const coveredChapters: Readonly<Record<string, Readonly<Record<string, CoveredChapter>>>> = {
  'README.md': {
    'Your own site': { before: (machine) => writePeople(at(machine, 'alpha/people.csv')) },
  },
  'docs/operator-guide.md': {
    'Make a site': {},
    'Enrol a peer': {
      before(machine) {
        const alice = '    alice: { signer_keys: [alice-1], spoken_for_by: [desk] }\n'
        const carol = '    carol: { signer_keys: [carol-1], spoken_for_by: [desk] }\n'
        const bob = '    bob: { signer_keys: [bob-1], spoken_for_by: [desk] }\n'
        edit(at(machine, 'alpha/site/profile.yaml'), [/^consensus:\n/m, contributors(alice + carol)])
        edit(at(machine, 'bravo/site/profile.yaml'), [/^consensus:\n/m, contributors(bob)])
      },
      prepare: [
        ['platform peers add bravo', (machine) => carry(machine, 'bravo-keys.json', 'bravo', 'alpha')],
        ['platform peers add alpha', (machine) => carry(machine, 'alpha-keys.json', 'alpha', 'bravo')],
        [
          'platform profile validate',
          (machine) => {
            for (const [site, peer] of [
              ['alpha', 'bravo'],
              ['bravo', 'alpha'],
            ] as const) {
              const accreditation =
                '{ authority: "Accreditation Board", reference: "AB-2026-017", valid_until: "2099-06-30" }'
              edit(at(machine, site, 'site/profile.yaml'), [
                /^site:\n/m,
                `site:\n  accreditations:\n    ${peer}: ${accreditation}\n`,
              ])
            }
          },
        ],
      ],
    },
    'Change the settings of a peer': {},
    Run: {
      // Other tests run on this machine: each site takes ports that are free.
      before(machine) {
        for (const site of ['alpha', 'bravo']) edit(at(machine, site, 'site/profile.yaml'), [/port: 9\d+/g, 'port: 0'])
      },
    },
    'Hold a session': {},
    'Carry files': {
      before(machine) {
        mkdirSync(at(machine, 'disk'), { recursive: true })
      },
    },
    'By courier': {},
    'Read a dissent': { before: (machine) => moveReady(machine, ['bravo', 'alpha']) },
    Attest: {
      prepare: [
        [
          'platform evidence verify evidence.json --keys',
          (machine) => {
            for (const file of ['evidence.json', 'alpha-keys.json', 'bravo-keys.json'])
              carry(machine, file, 'alpha', 'elsewhere')
          },
        ],
      ],
    },
    'Resolve records': {
      before(machine) {
        mkdirSync(at(machine, 'plain'), { recursive: true })
        writePeople(at(machine, 'plain/people.csv'))
        for (const name of ['alpha', 'bravo', 'truth']) writeFileSync(at(machine, 'plain', `${name}.csv`), sample(name))
      },
    },
    'Measure a result against known truth': {},
    'Keep decisions and entity ids between runs': {
      before(machine) {
        writeFileSync(at(machine, 'plain/decided.csv'), 'id_l,id_r,decision\n')
      },
    },
    'A lens of your own': {
      before(machine) {
        writePeople(at(machine, 'plain/customers.csv'))
      },
    },
    Audit: {
      prepare: [
        [
          'platform audit verify',
          (machine) => {
            for (const file of ['audit.jsonl', 'alpha-keys.json']) carry(machine, file, 'alpha', 'elsewhere')
          },
        ],
      ],
    },
    Doctor: {},
  },
}

/** Chapters that no test runs as they are printed, each with the reason. */
export const uncoveredChapters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    platform: 'builds the executable, and runs the tests; test/sites/demo.test.ts runs the demo',
  },
  'docs/operator-guide.md': {
    'Install from a disk':
      'names the executable in the folder; test/cli/executable.test.ts and completion.test.ts run these commands',
    'Give each role a user of its own': 'creates users of the machine; test/sites/roles-apart divides a site',
    'Resend missing messages': 'needs a loss of messages; test/cli/filedrop.test.ts runs these commands',
    'Messages that wait': 'needs a message for a role that is absent; test/cli/waiting-messages.test.ts',
    'Send over a network with certificates':
      'needs two machines; test/cli/certificates.test.ts and test/sites/mtls.test.ts',
    'Join a coalition': 'needs a hub; test/sites/coalition.test.ts',
    'By a message broker': 'needs RabbitMQ; test/engines',
    Monitor: 'needs a scraper; test/docs/observability.test.ts holds the names',
    Quarantine: 'needs a refused message; test/cli/filedrop.test.ts',
    'Release by two people': 'needs a refused message; test/sites/two-person-release.test.ts',
    'Dismiss what nobody will release': 'needs a refused message; test/transport/filedrop/quarantine',
    'Purge a spillage': 'needs stored messages to purge; test/cli/filedrop.test.ts',
    'Documents in a cluster': 'needs OpenSearch; test/engines/opensearch',
    'Back up and restore': 'not yet: another format of backups is in preparation; test/cli/site.test.ts',
    'Replace a destroyed site': 'not yet: needs a backup; test/boot/restore.test.ts',
    'Rotate a key': 'not yet: names a key id; test/cli/key-sets.test.ts',
    'Revoke a key': 'not yet: names a key id; test/cli/key-sets.test.ts',
    'Root keys that are never connected': 'not yet: needs a second machine; test/cli/key-sets.test.ts',
    'Keys that protect secrets': 'not yet: names a key id; test/secrets',
    'Keys under a passphrase': 'prompts for a passphrase; test/cli/wrapped-keys.test.ts',
    Tokens: 'not yet: names token ids; test/cli/keys-and-tokens.test.ts',
    'Client certificates': 'needs a client; test/cli/certificates.test.ts',
    'Offer tools to AI clients': 'needs a client; test/mcp',
    'Look at the tools of a service': 'needs a service outside; test/cli/tools.test.ts',
    'On the service': 'not yet: needs a folder of data; test/cli/resolve-service.test.ts',
    'With another site': 'needs two sites with data; test/sites/exchange',
    'Look up one record': 'not yet: needs a run on the service; test/cli/resolve-service.test.ts',
    'Add records without a run': 'not yet: needs a registry on the service; test/resolution/match.test.ts',
    'Forget records and delete entities': 'needs a registry on the service; test/cli/resolve-service.test.ts',
    'A site for lookups only': 'needs a registry; test/sites/registry-snapshot.test.ts',
    Signals: 'not yet: names ids; test/cli/signals.test.ts',
    'Serve the public': 'needs an identity provider; test/cli/proxy.test.ts',
  },
}
