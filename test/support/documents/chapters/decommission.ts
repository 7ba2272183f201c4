// The last chapter of the operator guide: a site ends.
import { type CoveredChapters, carry } from '../chapter.ts'

export const decommissionChapters: CoveredChapters = {
  'Decommission a site': {
    steps: [
      [
        'platform audit verify bravo-last-audit.jsonl',
        {
          prepare(machine) {
            for (const file of ['bravo-last-audit.jsonl', 'bravo-last-keys.json'])
              carry(machine, file, 'bravo', 'alpha')
          },
        },
      ],
    ],
  },
}
