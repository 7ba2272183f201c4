// Chapters of the operator guide about backups, keys, tokens and the tools that a token may call.
import { rmSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { at, type CoveredChapters, carry, deliverReady, deliverUntil, edit, type Machine, restart } from '../chapter.ts'

const passphrase = 'correct horse battery'
const carrying = (file: string, from: string, to: string) => ({
  prepare: (machine: Machine) => carry(machine, file, from, to),
})

/** The machine that replaced alpha's is alpha from here on. */
async function continueAtAlpha(machine: Machine): Promise<void> {
  await machine.shells.run('new', 'kill %1; wait')
  rmSync(at(machine, 'alpha/site'), { recursive: true })
  await machine.shells.run('alpha', 'mv ../new/site site')
  await machine.shells.run('alpha', 'platform serve &')
}

/** Carries messages until bravo has the root keys of the set that alpha published. */
async function deliverKeySet(machine: Machine): Promise<void> {
  const { output } = await machine.shells.run('alpha', 'platform keys set show')
  const roots = output.match(/root-[\w-]+/g) ?? []
  expect(roots.length).toBeGreaterThan(1)
  await deliverUntil(machine, ['alpha', 'bravo'], async () => {
    const shown = await machine.shells.run('bravo', 'platform peers show alpha')
    for (const root of roots) expect(shown.output).toContain(root)
  })
}

export const keyChapters: CoveredChapters = {
  'Back up and restore': {},
  'Replace a destroyed site': {
    before: async ({ shells }) => void (await shells.run('alpha', 'kill %1; wait')),
  },
  'Rotate a key': {
    before: continueAtAlpha,
    steps: [['platform peers update', carrying('alpha-keyset.json', 'alpha', 'bravo')]],
  },
  'Revoke a key': {
    // The announcement of the epoch is signed by the key that is revoked.
    before: (machine) => deliverReady(machine, 'alpha', 'bravo'),
    steps: [
      ['platform peers revoke', { picked: /peers revoke alpha (message-[\w-]+)/ }],
      ['platform peers update', carrying('alpha-keyset-2.json', 'alpha', 'bravo')],
    ],
  },
  'Root keys that are never connected': {
    steps: [
      ['platform keys wrap --dir root-1', { answers: () => [passphrase, passphrase] }],
      ['platform keys wrap --dir root-2', { answers: () => [passphrase, passphrase] }],
      [
        'platform keys set draft --roots',
        {
          prepare(machine) {
            for (const file of ['root-1.json', 'root-2.json']) carry(machine, file, 'vault', 'alpha')
          },
        },
      ],
      [
        'platform keys set sign keyset.json --dir root-1',
        { ...carrying('keyset.json', 'alpha', 'vault'), answers: () => ['y', passphrase] },
      ],
      ['platform keys set sign keyset.json --dir root-2', { answers: () => ['y', passphrase] }],
      ['platform keys set sign keyset.json', { ...carrying('keyset.json', 'vault', 'alpha'), answers: () => ['y'] }],
      ['platform keys set publish keyset.json', { answers: () => ['y'] }],
      ['platform keys revoke', { picked: /no longer listed +(root-\S+)/ }],
      ['platform keys rotate', { picked: /^(message-\S+) +message +\S+ +active/m }],
      ['platform keys set draft --retire', { picked: /replaces (message-\S+)/ }],
      ['platform filedrop epoch bravo --out', { prepare: deliverKeySet }],
      [
        'platform keys sign-epoch epoch-bravo.json --dir root-1',
        { ...carrying('epoch-bravo.json', 'alpha', 'vault'), answers: () => ['y', passphrase] },
      ],
      ['platform keys sign-epoch epoch-bravo.json --dir root-2', { answers: () => ['y', passphrase] }],
      ['platform filedrop epoch bravo --announcement', carrying('epoch-bravo.json', 'vault', 'alpha')],
    ],
  },
  'Keys that protect secrets': {},
  'Keys under a passphrase': {
    steps: [['platform keys wrap', { answers: () => [passphrase, passphrase] }]],
  },
  Tokens: {
    steps: [
      [
        'curl',
        {
          async typed(text, { shells }) {
            const { output } = await shells.run('alpha', 'platform status')
            return text.replace(/http:\/\/[\d.:]+/, /^site .*?(http:\/\/[\d.:]+)/m.exec(output)?.[1] ?? '')
          },
        },
      ],
    ],
    async before(machine) {
      writeFileSync(at(machine, 'alpha/keys.passphrase'), `${passphrase}\n`)
      writeFileSync(at(machine, 'alpha/site/ingest.secret'), 'a secret of the client ingest', { mode: 0o600 })
      writeFileSync(at(machine, 'alpha/ingest.secret'), 'a secret of the client ingest', { mode: 0o600 })
      edit(at(machine, 'alpha/site/profile.yaml'), [
        /$/,
        '\nidentity:\n  keys_passphrase_file: ../keys.passphrase\n  clients:\n    - { client_id: ingest, secret_file: ./ingest.secret, roles: [analyst] }\n',
      ])
      await restart(machine, 'alpha')
    },
  },
  'Client certificates': {
    before: async ({ shells }) => {
      const subject = '-subj /O=Example/OU=Coast/CN=Sensor\\ 7'
      await shells.run('alpha', `openssl req -x509 -newkey ed25519 -nodes -keyout card.key -out card.pem ${subject}`)
    },
  },
  'Offer tools to AI clients': {},
  'Look at the tools of a service': {
    steps: [
      [
        'platform serve',
        { prepare: (machine) => edit(at(machine, 'cloud/site/profile.yaml'), [/port: 9\d+/g, 'port: 0']) },
      ],
    ],
  },
}
