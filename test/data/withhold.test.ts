import { describe, expect, it } from 'vitest'
import { withhold } from '../../data/withhold.ts'

const secret = 'a-planted-secret'
const basic = Buffer.from(`me:${secret}`).toString('base64')

describe('a reply that repeats what let us in', () => {
  it.each([
    ['a token', `Bearer ${secret}`, `no: ${secret}`],
    ['the whole header', `Bearer ${secret}`, `{"authorization": "Bearer ${secret}"}`],
    ['wrapped credentials', `Basic ${basic}`, `no: ${basic}`],
    ['the password in them', `Basic ${basic}`, `me:${secret}, and ${secret}`],
    ['a header without a scheme', secret, `${secret}${secret}`],
  ])('loses %s', (_, header, reply) => {
    const said = withhold(reply, header)
    expect(said).toContain('***')
    expect(said).not.toContain(secret)
    expect(said).not.toContain(basic)
  })

  it('stays as it is otherwise', () => {
    expect(withhold('an answer', undefined)).toBe('an answer')
    expect(withhold('t is a letter', 'Bearer t')).toBe('t is a letter')
    expect(withhold('me and you', `Basic ${basic}`)).toBe('me and you')
  })
})
