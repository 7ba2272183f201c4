// The name and version of this executable, from package.json: the one version that every surface shows.
import manifest from '../../../package.json' with { type: 'json' }

export const product = { name: manifest.name, version: manifest.version }

/** The `User-Agent` of the site's own requests. */
export const user_agent = `${product.name}/${product.version}`
