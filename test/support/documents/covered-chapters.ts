// Which chapters of README.md and the operator guide are run as they are printed, and why the others are not.
import { at, type CoveredChapter, writePeople } from './chapter.ts'
import { channelChapters } from './chapters/channels.ts'
import { decommissionChapters } from './chapters/decommission.ts'
import { firstSiteChapters } from './chapters/first-site.ts'
import { keyChapters } from './chapters/keys.ts'
import { recordChapters } from './chapters/records.ts'

export const coveredChapters: Readonly<Record<string, Readonly<Record<string, CoveredChapter>>>> = {
  'README.md': {
    'Your own site': { before: (machine) => writePeople(at(machine, 'alpha/people.csv')) },
  },
  'docs/operator-guide.md': {
    ...firstSiteChapters,
    ...channelChapters,
    ...keyChapters,
    ...recordChapters,
    ...decommissionChapters,
  },
}

/** Chapters that no test runs as they are printed, each with the reason. */
export const uncoveredChapters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    platform: 'builds the executable, and runs the tests; test/sites/demo.test.ts runs the demo',
  },
  'docs/operator-guide.md': {
    'Give each role a user of its own': 'creates users of the machine; test/sites/roles-apart divides a site',
    'Join a coalition': 'needs a hub; test/sites/coalition.test.ts',
    'By a message broker': 'needs RabbitMQ; test/engines/rabbitmq',
    'Documents in a cluster': 'needs OpenSearch; test/engines/opensearch',
    'Tools of a service elsewhere': 'needs a service outside; test/cli/tools-of-services.test.ts',
    'Serve the public': 'needs an identity provider; test/cli/proxy.test.ts',
  },
}
