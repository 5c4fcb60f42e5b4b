/* Loops over the functions of vecmath_special.h; included by it. */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define VM_SPECIAL_2(name)                                                                                   \
    VM_PLAIN_2(name##_f64, double, uint64_t)                                                                 \
    VM_PLAIN_2(name##_f32, float, uint32_t)

VM_RUN_PLAIN(expit)
VM_RUN_PLAIN(logit)
VM_RUN_PLAIN(log_expit)
VM_RUN_PLAIN(softplus)
VM_SPECIAL_2(xlogy)
VM_SPECIAL_2(xlog1py)
VM_RUN_PLAIN(entr)
VM_SPECIAL_2(rel_entr)
VM_SPECIAL_2(kl_div)
VM_SPECIAL_2(huber)
VM_SPECIAL_2(pseudo_huber)
VM_RUN_PLAIN(cbrt)
VM_RUN_PLAIN(exp2)
VM_RUN_PLAIN(exp10)
VM_SPECIAL_2(boxcox)
VM_SPECIAL_2(boxcox1p)
VM_SPECIAL_2(inv_boxcox)
VM_SPECIAL_2(inv_boxcox1p)
VM_RUN_PLAIN(exprel)
VM_RUN_PLAIN(sinc)
VM_RUN(cosm1_f64, double, uint64_t, VM_SIN_RARE_F64)
#define VM_COSM1_RARE_F32(x) (vm_bits32(0x1p30f) - (vm_bits32(x) & ~VM_SIGN32))
VM_RUN(cosm1_f32, float, uint32_t, VM_COSM1_RARE_F32)
VM_RUN_PLAIN(sindg)
VM_RUN_PLAIN(cosdg)
VM_RUN_PLAIN(tandg)
VM_RUN_PLAIN(cotdg)

VM_RUN_PLAIN(erf)
VM_RUN_PLAIN(erfc)
VM_RUN_PLAIN(erfcx)
VM_RUN_PLAIN(erfinv)
VM_RUN_PLAIN(erfcinv)
VM_RUN_PLAIN(ndtr)
VM_RUN_PLAIN(log_ndtr)
VM_RUN_PLAIN(ndtri)

VM_RUN_BOTH(gamma, GAMMA)
VM_RUN_BOTH(gammaln, GAMMALN)
VM_RUN_BOTH(digamma, DIGAMMA)
VM_RUN_PLAIN(i0)
VM_RUN_PLAIN(i0e)
VM_RUN_PLAIN(i1)
VM_RUN_PLAIN(i1e)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
