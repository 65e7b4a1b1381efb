"""(h,k,p)-coherence: find the minimal moles, then suppress items until none is left."""
