import { whoAmI } from '@huggingface/hub'
import { z } from 'zod'
import { access, type HubAccess } from './access.ts'
import { hubFailure } from './failure.ts'

/** Who a token belongs to, and what it may do. */
export interface TokenIdentity {
  readonly name: string
  readonly role: 'read' | 'write' | 'fine-grained' | 'unknown'
  /** Owners, and single repositories, that it may write to; null: the hub does not tell. */
  readonly writable: readonly string[] | null
}

/** Newer hubs may say more; what is not understood is not taken for a right. */
const Scoped = z.object({
  entity: z.object({ name: z.string().optional() }),
  permissions: z.array(z.string()).catch([]),
})
const Answer = z.object({
  name: z.string(),
  orgs: z.array(z.object({ name: z.string() })).catch([]),
  auth: z
    .object({
      accessToken: z
        .object({ role: z.string(), fineGrained: z.object({ scoped: z.array(Scoped).catch([]) }).optional() })
        .optional(),
    })
    .optional(),
})

const rightsOf = ({ name, orgs, auth }: z.infer<typeof Answer>): Pick<TokenIdentity, 'role' | 'writable'> => {
  const { role, fineGrained } = auth?.accessToken ?? {}
  if (role === 'read') return { role, writable: [] }
  if (role === 'write') return { role, writable: [name, ...orgs.map((org) => org.name)] }
  if (role !== 'fineGrained') return { role: 'unknown', writable: null }
  const scoped = fineGrained?.scoped ?? []
  const owners = scoped.filter(({ permissions }) => permissions.includes('repo.write'))
  return { role: 'fine-grained', writable: owners.flatMap(({ entity }) => entity.name ?? []) }
}

/** Asks the hub about the token; needs one. Throws a PipelineError of setup when it is refused or the hub is not there. */
export const tokenIdentity = async (request: HubAccess & { readonly token: string }): Promise<TokenIdentity> => {
  const { settings, signal, token } = request
  try {
    const answer = Answer.parse(await whoAmI({ ...access(request), accessToken: token }))
    return { name: answer.name, ...rightsOf(answer) }
  } catch (error) {
    signal?.throwIfAborted()
    throw hubFailure('asking the hub whose token this is', error, settings, 'identify')
  }
}
