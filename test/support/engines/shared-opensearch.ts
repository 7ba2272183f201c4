// One OpenSearch for a whole run of tests: started before the first file, and killed after the last one. Each file that uses it
// has a prefix of its own, and may kill and start it, since the files of real servers run one after the other.
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import {
  type OpenSearch,
  type OpenSearchDescription,
  openSearchServer,
  opensearch,
  opensearchRequirement,
} from './opensearch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined where OpenSearch is not installed. */
    opensearch: OpenSearchDescription | undefined
  }
}

/** Global set-up of the tests on real servers; what it returns ends the server. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!opensearchRequirement.isPresent) {
    project.provide('opensearch', undefined)
    return undefined
  }
  const server = await opensearch()
  await server.start()
  project.provide('opensearch', server.description)
  return () => server.end()
}

/** The server of this run, which answers already; `end` leaves it as it was found. */
export function sharedOpenSearch(): OpenSearch {
  const description = inject('opensearch')
  if (!description) throw new Error('OpenSearch was not started for this run')
  return openSearchServer(description)
}
