// When a network is done with what a site has sent.
import { waitUntil } from '../site/test-site.ts'
import type { FiledropSite } from './filedrop-sites.ts'

/** Until a network has taken all that the site has sent. A folder that is empty for a moment says nothing of what follows. */
export async function waitUntilTaken({ transport }: FiledropSite): Promise<void> {
  await waitUntil(async () => {
    await transport.rescan()
    return (await transport.status()).every(({ direction, backlog }) => direction === 'in' || backlog === 0)
  })
}
