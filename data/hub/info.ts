import { datasetInfo, modelInfo } from '@huggingface/hub'
import { access, type HubAccess } from './access.ts'
import type { RepoName } from './repo.ts'

/** What the hub says of a repository at a revision; rejects with the hub's own error. */
export const repoInfo = async (
  request: HubAccess & { readonly repo: RepoName; readonly revision?: string },
): Promise<{ readonly commit: string; readonly isPrivate: boolean }> => {
  const { repo, revision } = request
  const asked = { ...access(request), name: repo.name, ...(revision === undefined ? {} : { revision }) }
  const { sha, private: isPrivate } =
    repo.type === 'model'
      ? await modelInfo({ ...asked, additionalFields: ['sha'] })
      : await datasetInfo({ ...asked, additionalFields: ['sha'] })
  return { commit: sha, isPrivate }
}
