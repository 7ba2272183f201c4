// Chapters of the operator guide that make two sites, run them, and have them hold a session.
import { copyFileSync } from 'node:fs'
import { at, type CoveredChapters, carry, edit, type Machine, moveReady } from '../chapter.ts'
import type { Answers } from '../document-shells.ts'

const contributors = (text: string) => `consensus:\n  contributors:\n${text}`

/** What the operator of the other site reads aloud. */
export const spokenBy =
  (shell: string, options = ''): Answers =>
  async (shells) => {
    const { output } = await shells.run(shell, `platform keys speak${options}`)
    return [(output.match(/\b\d{6}\b/g) ?? []).join(' ')]
  }

function accredit(machine: Machine): void {
  for (const [site, peer] of [
    ['alpha', 'bravo'],
    ['bravo', 'alpha'],
  ] as const) {
    const accreditation = '{ authority: "Accreditation Board", reference: "AB-2026-017", valid_until: "2099-06-30" }'
    edit(at(machine, site, 'site/profile.yaml'), [
      /^site:\n/m,
      `site:\n  accreditations:\n    ${peer}: ${accreditation}\n`,
    ])
  }
}

export const firstSiteChapters: CoveredChapters = {
  'Install from a disk': {
    before: (machine) => copyFileSync(at(machine, 'bin/platform'), at(machine, 'alpha/platform')),
  },
  'Make a site': {},
  'Enrol a peer': {
    before(machine) {
      const alice = '    alice: { signer_keys: [alice-1], spoken_for_by: [desk] }\n'
      const carol = '    carol: { signer_keys: [carol-1], spoken_for_by: [desk] }\n'
      const bob = '    bob: { signer_keys: [bob-1], spoken_for_by: [desk] }\n'
      edit(at(machine, 'alpha/site/profile.yaml'), [/^consensus:\n/m, contributors(alice + carol)])
      edit(at(machine, 'bravo/site/profile.yaml'), [/^consensus:\n/m, contributors(bob)])
    },
    steps: [
      [
        'platform peers add bravo',
        { prepare: (machine) => carry(machine, 'bravo-keys.json', 'bravo', 'alpha'), answers: spokenBy('bravo') },
      ],
      [
        'platform peers add alpha',
        { prepare: (machine) => carry(machine, 'alpha-keys.json', 'alpha', 'bravo'), answers: spokenBy('alpha') },
      ],
      ['platform profile validate', { prepare: accredit }],
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
  'Carry files': {},
  'By courier': {},
  'Read a dissent': {
    before: (machine) => moveReady(machine, 'bravo', 'alpha'),
    steps: [['platform consensus dissent', { picked: /^(ses_\w+) +IN_CONFLICT/m }]],
  },
  Attest: {
    steps: [
      [
        'platform evidence verify evidence.json --keys',
        {
          prepare(machine) {
            for (const file of ['evidence.json', 'alpha-keys.json', 'bravo-keys.json'])
              carry(machine, file, 'alpha', 'elsewhere')
          },
        },
      ],
    ],
  },
  Audit: {
    steps: [
      [
        'platform audit verify',
        {
          prepare(machine) {
            for (const file of ['audit.jsonl', 'alpha-audit-keys.json']) carry(machine, file, 'alpha', 'elsewhere')
          },
        },
      ],
    ],
  },
  Doctor: {},
}
